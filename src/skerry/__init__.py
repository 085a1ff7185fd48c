"""Skerry: standing queries over sensor networks.

>>> import skerry
>>> db = skerry.connect()
>>> db.execute("CREATE SOURCE road (segment INT, ts TIMESTAMP) WITH (connector='sim', duration='1min')")
>>> db.execute("CREATE MATERIALIZED VIEW far AS SELECT segment, ts FROM road WHERE segment = 8")
>>> sum(batch.num_rows for batch in db.view("far").stream())
951
"""

from typing import TYPE_CHECKING

from skerry.errors import SkerryError

if TYPE_CHECKING:
    from skerry.database import Database, Settings, connect

__all__ = ["Database", "Settings", "SkerryError", "__version__", "connect"]

__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    """Load the database when it is asked for: Spark's workers import this package and never need it."""
    if name in ("Database", "Settings", "connect"):
        from skerry import database

        return getattr(database, name)
    raise AttributeError(f"module 'skerry' has no attribute {name!r}")
