"""What Spark's stateful stage calls: a shell around ``operate``, which is loaded where there is something to do.

Spark starts a process at the driver that opens the state once and has no rows. It imports this module, and little else.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from skerry.spark.lazy_pickle import LazyPickle

if TYPE_CHECKING:  # see skerry.spark.lazy_pickle
    from skerry.spark.operate import Operate

__all__ = ["Processor"]


class Processor(StatefulProcessor):
    """Hands a bucket's envelopes and its state to ``operate``."""

    def __init__(self, operate: Operate) -> None:
        self._operate = LazyPickle(operate)

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Open the state: pages by name."""
        self._pages = handle.getMapState("pages", "page STRING", "blob BINARY")

    def handleInputRows(self, key: Any, rows: Any, timerValues: Any) -> Iterator[Row]:
        """Work on one bucket's envelopes."""
        return self._operate.open().work_on(key, rows, self._pages)

    def close(self) -> None:
        """Nothing to let go."""
