"""Tells how many tasks of Spark's current stage are done, while they run."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread

from pyspark.sql import SparkSession

__all__ = ["watch_tasks"]

_PAUSE_SECONDS = 1.0
_FEWEST = 8
"""Stages with fewer tasks are not worth a word."""


@contextmanager
def watch_tasks(spark: SparkSession, tell: Callable[[str], None]) -> Iterator[None]:
    """Tell of long stages while the body runs."""
    tracker, over = spark.sparkContext.statusTracker(), Event()

    def watch() -> None:
        while not over.wait(_PAUSE_SECONDS):
            for stage in tracker.getActiveStageIds():
                info = tracker.getStageInfo(stage)
                if info is not None and info.numTasks >= _FEWEST:
                    tell(f"{info.numCompletedTasks} of {info.numTasks} tasks done")

    beside = Thread(target=watch, daemon=True)
    beside.start()
    try:
        yield
    finally:
        over.set()
        beside.join()
