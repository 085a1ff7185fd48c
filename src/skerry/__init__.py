"""Skerry: standing queries over sensor networks.

>>> import skerry
>>> db = skerry.connect()
>>> db.execute("CREATE SOURCE road (segment INT, ts TIMESTAMP) WITH (connector='sim', duration='1min')")
>>> db.execute("CREATE MATERIALIZED VIEW far AS SELECT segment, ts FROM road WHERE segment = 8")
>>> sum(batch.num_rows for batch in db.view("far").stream())
951
"""

from importlib import import_module
from typing import TYPE_CHECKING

from skerry.errors import (
    CatalogError,
    InputError,
    OptionError,
    RuleError,
    RunError,
    SetupError,
    SkerryError,
    SourceError,
    SqlError,
    WaitTimeout,
)

if TYPE_CHECKING:
    from skerry.catalog import Sensor, Source, Subscription, View
    from skerry.database import Database, RunningPipeline, RunningView, Settings, StandingView, connect
    from skerry.pipeline.outcome import Outcome, Tally
    from skerry.plan.limits import Limits
    from skerry.sinks.files import FileSink
    from skerry.sinks.memory import MemorySink
    from skerry.sinks.sink import Sink

__all__ = [
    "CatalogError",
    "Database",
    "FileSink",
    "InputError",
    "Limits",
    "MemorySink",
    "OptionError",
    "Outcome",
    "RuleError",
    "RunError",
    "RunningPipeline",
    "RunningView",
    "Sensor",
    "Settings",
    "SetupError",
    "Sink",
    "SkerryError",
    "Source",
    "SourceError",
    "SqlError",
    "StandingView",
    "Subscription",
    "Tally",
    "View",
    "WaitTimeout",
    "__version__",
    "connect",
]

__version__ = "0.1.0"

_HOMES = {
    "Database": "skerry.database",
    "FileSink": "skerry.sinks.files",
    "Limits": "skerry.plan.limits",
    "MemorySink": "skerry.sinks.memory",
    "Outcome": "skerry.pipeline.outcome",
    "RunningPipeline": "skerry.database",
    "RunningView": "skerry.database",
    "Sensor": "skerry.catalog",
    "Settings": "skerry.database",
    "Sink": "skerry.sinks.sink",
    "Source": "skerry.catalog",
    "StandingView": "skerry.database",
    "Subscription": "skerry.catalog",
    "Tally": "skerry.pipeline.outcome",
    "View": "skerry.catalog",
    "connect": "skerry.database",
}
"""Names that are loaded when they are asked for: Spark's workers import this package and never need them."""


def __getattr__(name: str) -> object:
    """Load a public name from its home."""
    if name not in _HOMES:
        raise AttributeError(f"module 'skerry' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    """The public names, loaded or not."""
    return sorted({*globals(), *__all__})
