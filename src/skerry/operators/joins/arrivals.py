"""Tuples that arrive: rows of the streams of a join as a technique sees them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from skerry.errors import KernelError
from skerry.model.arrays import Bools, Int32s, Int64s
from skerry.operators.joins.keys import key_codes
from skerry.plan.side import Side

__all__ = ["Arrivals", "make_arrivals", "merge_by_time"]


@dataclass(frozen=True)
class Arrivals:
    """Tuples of several streams, in the order in which they are to be taken."""

    streams: Int32s
    """Which stream each comes from, from 0."""
    keys: Int64s
    starts: Int64s
    """Event time."""
    ends: Int64s
    """The last moment at which it is live."""
    rows: Int64s
    """What the caller calls it: a number that no other tuple of its stream has, rising in order of arrival."""

    def __post_init__(self) -> None:
        """All columns have one length."""
        sizes = {column.size for column in self.columns}
        if len(sizes) > 1:
            raise KernelError("arrivals have columns of different lengths", sorted(sizes))

    @property
    def columns(self) -> tuple[Int32s, Int64s, Int64s, Int64s, Int64s]:
        """All of them, as kernels take them."""
        return self.streams, self.keys, self.starts, self.ends, self.rows

    def at(self, indices: npt.NDArray[np.intp]) -> "Arrivals":
        """The tuples at some indices, in that order. Indices are in range: to clip is faster than to check them."""
        _, *others = self.columns
        return Arrivals(self.streams.take(indices, mode="clip"), *(each.take(indices, mode="clip") for each in others))

    @property
    def count(self) -> int:
        """How many there are."""
        return int(self.keys.size)


def make_arrivals(side: Side, stream: int, batch: pa.RecordBatch, rows: Int64s) -> tuple[Arrivals, Bools]:
    """The rows of a stream under their numbers, and which of them may join at all."""
    keys, joinable = key_codes([batch.column(key) for key in side.keys], batch.num_rows)
    starts, ends = side.moments(batch)
    return Arrivals(np.full(rows.size, stream, np.int32), keys, starts, ends, rows), joinable


def merge_by_time(parts: Sequence[Arrivals]) -> Arrivals:
    """All parts by event time; at equal times by part and then as they stand."""
    together = Arrivals(*map(np.concatenate, zip(*(part.columns for part in parts), strict=True)))
    return together.at(np.argsort(together.starts, kind="stable"))
