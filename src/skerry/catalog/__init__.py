"""What is known by name: sources, sensors, views, subscriptions, each with the text that made it."""

from skerry.catalog.counters import QueryCounter
from skerry.catalog.definitions import Sensor, Source, View
from skerry.catalog.distance import Area, Point
from skerry.catalog.find_sensors import Found, Search
from skerry.catalog.statuses import SensorStatus
from skerry.catalog.store import Catalog
from skerry.catalog.subscriptions import Subscription, SubscriptionChange
from skerry.catalog.view_log import ViewNews

__all__ = [
    "Area",
    "Catalog",
    "Found",
    "Point",
    "QueryCounter",
    "Search",
    "Sensor",
    "SensorStatus",
    "Source",
    "Subscription",
    "SubscriptionChange",
    "View",
    "ViewNews",
]
