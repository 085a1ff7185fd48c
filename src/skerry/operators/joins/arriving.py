"""Rows of a stream as a technique sees them."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from skerry.operators.joins.keys import Bools, key_codes
from skerry.operators.joins.side import Side
from skerry.operators.joins.technique import Arrivals, Int64s

__all__ = ["arriving", "chosen", "in_order"]


def arriving(side: Side, stream: int, batch: pa.RecordBatch, rows: Int64s) -> tuple[Arrivals, Bools]:
    """The rows of a stream under their numbers, and which of them may join at all."""
    keys, joinable = key_codes([batch.column(key) for key in side.keys], batch.num_rows)
    starts, ends = side.moments(batch)
    return Arrivals(np.full(rows.size, stream, np.int32), keys, starts, ends, rows), joinable


def in_order(parts: Sequence[Arrivals]) -> Arrivals:
    """All parts by event time; at equal times by part and then as they stand."""
    streams, keys = (np.concatenate(columns) for columns in zip(*((p.streams, p.keys) for p in parts), strict=True))
    moments = zip(*((part.starts, part.ends, part.rows) for part in parts), strict=True)
    starts, ends, rows = (np.concatenate(columns) for columns in moments)
    return chosen(Arrivals(streams, keys, starts, ends, rows), np.argsort(starts, kind="stable"))


def chosen(arrivals: Arrivals, places: Bools | npt.NDArray[np.intp]) -> Arrivals:
    """Some arrivals, or all in another order."""
    streams, keys, rows = arrivals.streams[places], arrivals.keys[places], arrivals.rows[places]
    return Arrivals(streams, keys, arrivals.starts[places], arrivals.ends[places], rows)
