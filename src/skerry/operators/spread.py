"""Rows spread over buckets by their keys; and saved states, when the number of buckets changes."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from skerry.model.arrays import Int64s
from skerry.operators.grouping import buckets

__all__ = ["Spread", "spread_rows"]


def spread_rows(rows: pa.RecordBatch, keys: Sequence[str], count: int) -> list[pa.RecordBatch]:
    """The rows of each bucket, in the order they have. Equal keys meet, whichever process computes it.

    >>> [part.to_pydict() for part in spread_rows(pa.record_batch({"k": [1, 3, 1]}), ["k"], 2)]
    [{'k': [1, 1]}, {'k': [3]}]
    """
    return [rows] if count == 1 else [rows.take(pa.array(chosen)) for chosen in _choose(rows, keys, count)]


def _choose(rows: pa.RecordBatch, keys: Sequence[str], count: int) -> list[Int64s]:
    numbers = buckets([rows.column(key) for key in keys], rows.num_rows, count)
    return [np.flatnonzero(numbers == bucket) for bucket in range(count)]


@dataclass(frozen=True)
class Spread:
    """How a view's rows are spread: the keys of each of its streams, and over how many buckets."""

    keys: tuple[tuple[str, ...], ...]
    count: int

    def split(self, rows: pa.RecordBatch, stream: int = 0) -> list[pa.RecordBatch]:
        """Rows of a stream by bucket. They may have other columns than they came with, but their keys."""
        return spread_rows(rows, self.keys[stream], self.count)

    def choose(self, rows: pa.RecordBatch, stream: int = 0) -> list[Int64s]:
        """The indices of the rows of each bucket."""
        return _choose(rows, self.keys[stream], self.count)
