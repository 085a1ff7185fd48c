"""What is known by name: sources, sensors, views, subscriptions, each with the text that made it."""

from skerry.catalog.counters import QueryCounter
from skerry.catalog.definitions import Sensor, Source, View
from skerry.catalog.store import Catalog
from skerry.catalog.subscriptions import Subscription, SubscriptionChange

__all__ = ["Catalog", "QueryCounter", "Sensor", "Source", "Subscription", "SubscriptionChange", "View"]
