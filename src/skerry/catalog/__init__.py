"""What is known by name: sources, sensors, views, each with the text that made it."""

from skerry.catalog.definitions import Sensor, Source, View
from skerry.catalog.store import Catalog

__all__ = ["Catalog", "Sensor", "Source", "View"]
