"""Which views a batch sees, and what has changed since the batch before: what its tasks learn from the driver."""

import json
from dataclasses import asdict, dataclass

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

    def as_property(self) -> str:
        """What tasks need to know."""
        return json.dumps(asdict(self))


def views_of_task() -> BatchViews:
    """Those of the batch that the running Spark task belongs to."""
    found = property_of_task(VIEWS)
    assert found is not None, "the driver says which before a batch runs"
    record = json.loads(found)
    return BatchViews(
        record["version"], tuple(record["came"]), tuple((group, count) for group, count in record["gone"])
    )
