"""Rows of a stream as a technique sees them."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from skerry.model.arrays import Bools, Int64s
from skerry.operators.joins.keys import key_codes
from skerry.operators.joins.technique import Arrivals
from skerry.plan.side import Side

__all__ = ["arriving", "in_order"]


def arriving(side: Side, stream: int, batch: pa.RecordBatch, rows: Int64s) -> tuple[Arrivals, Bools]:
    """The rows of a stream under their numbers, and which of them may join at all."""
    keys, joinable = key_codes([batch.column(key) for key in side.keys], batch.num_rows)
    starts, ends = side.moments(batch)
    return Arrivals(np.full(rows.size, stream, np.int32), keys, starts, ends, rows), joinable


def in_order(parts: Sequence[Arrivals]) -> Arrivals:
    """All parts by event time; at equal times by part and then as they stand."""
    together = Arrivals(*map(np.concatenate, zip(*(part.columns for part in parts), strict=True)))
    return together.at(np.argsort(together.starts, kind="stable"))
