"""How many partitions a shuffle has: by the rows that there are."""

from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.sql import SparkSession

__all__ = ["partitions_for"]

_SETTING = "spark.sql.shuffle.partitions"
_ROWS_PER_PARTITION = 1_000_000


@contextmanager
def partitions_for(spark: SparkSession, rows: int) -> Iterator[int]:
    """Give what is planned in the body partitions of a million rows, and each core at least one; tell how many."""
    count = max(spark.sparkContext.defaultParallelism, -(-rows // _ROWS_PER_PARTITION))
    before = spark.conf.get(_SETTING)
    assert before is not None
    spark.conf.set(_SETTING, count)
    try:
        yield count
    finally:
        spark.conf.set(_SETTING, before)
