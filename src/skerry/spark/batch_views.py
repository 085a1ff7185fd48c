"""Which views a batch sees, and what has changed since the batch before: what its tasks learn from the driver."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

from skerry.model.time import Micros
from skerry.spark.progress import property_of_task

__all__ = ["VIEWS", "BatchViews", "views_of_task"]

VIEWS = "skerry.views"


@dataclass(frozen=True)
class BatchViews:
    """The version of the views that a batch sees."""

    version: int
    came: tuple[int, ...] = ()
    """The groups that see their first batch."""
    gone: tuple[tuple[int, int], ...] = ()
    """The groups that keep state and have seen their last batch, and in how many buckets that state is."""
    begun: tuple[str, ...] = ()
    """The sources that were read before."""
    newest: Mapping[str, Micros] = field(default_factory=dict)
    """How far others have come by the history that some view begins with."""

    def as_property(self) -> str:
        """What tasks need to know."""
        return json.dumps(asdict(self))


def views_of_task() -> BatchViews:
    """Those of the batch that the running Spark task belongs to."""
    found = property_of_task(VIEWS)
    assert found is not None, "the driver says which before a batch runs"
    record = json.loads(found)
    gone = tuple((group, count) for group, count in record["gone"])
    return BatchViews(record["version"], tuple(record["came"]), gone, tuple(record["begun"]), record["newest"])
