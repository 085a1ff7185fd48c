"""How many cores Spark has: of a local master its name says so, of a cluster its executors, once they have come."""

import os
import time
from collections.abc import Callable

from pyspark.sql import SparkSession

from skerry.errors import RunError

__all__ = ["count_cores", "count_local_cores"]

_PATIENCE_SECONDS = 120.0
_SETTLED_SECONDS = 1.5
"""Executors of a cluster start together: if none has come for so long, those that are there are all."""


def count_local_cores(master: str | None) -> int | None:
    """The cores of a local master; None if executors are elsewhere.

    >>> count_local_cores("local[3]"), count_local_cores("local-cluster[2,4,1024]"), count_local_cores("yarn")
    (3, 8, None)
    """
    master = master or ""
    inside = master.partition("[")[2].rstrip("]").split(",")
    if master.startswith("local-cluster") and len(inside) == 3:
        return int(inside[0]) * int(inside[1])
    if master.startswith("local[") and inside[0].isdigit():
        return int(inside[0])
    return (os.cpu_count() or 1) if master.startswith("local") else None


def count_cores(spark: SparkSession) -> int:
    """The cores of all executors, which are waited for: a bounded time for the first, a moment for the others."""
    context = spark.sparkContext
    java = context._jsc
    assert java is not None
    local = count_local_cores(context.master)
    if local is not None:
        return local
    found = _wait_until_settled(lambda: int(java.sc().getExecutorMemoryStatus().size()) - 1)
    if not found:
        raise RunError(
            f"no executor of {context.master!r} came within {_PATIENCE_SECONDS:.0f} s; "
            "does the cluster have workers with a free core and a gigabyte of memory?"
        )
    return context.defaultParallelism


def _wait_until_settled(count: Callable[[], int]) -> int:
    """A number that grows from 0, once it has stopped to; 0 if it has not begun in time."""
    begun = changed = time.monotonic()
    known = 0
    while (now := time.monotonic()) - begun < _PATIENCE_SECONDS and (not known or now - changed < _SETTLED_SECONDS):
        found = count()
        if found > known:
            known, changed = found, now
        time.sleep(0.05)
    return known
