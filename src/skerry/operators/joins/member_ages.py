"""How old each member of a combination is, as of the newest of them."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from skerry.model.time import LAST_MOMENT, START_OF_TIME
from skerry.operators.operator import Operator
from skerry.plan.ages import with_ages
from skerry.plan.side import Side

__all__ = ["MemberAges"]


class MemberAges(Operator):
    """Combinations with the age of each member.

    A member is in a window of its stream if its age is at most the width of the window. So a join over wide windows
    answers for narrow ones too. Stateless.

    >>> sides = [Side(name, pa.schema({"t": pa.timestamp("us")}), (), "t", 9) for name in "ab"]
    >>> both = pa.record_batch({"a.t": pa.array([3], pa.timestamp("us")), "b.t": pa.array([8], pa.timestamp("us"))})
    >>> [column.to_pylist() for column in MemberAges(both.schema, sides).transition(both).columns[2:]]
    [[5], [0]]
    """

    def __init__(self, schema: pa.Schema, sides: Sequence[Side]) -> None:
        self.schema = with_ages(schema, sides)
        self._times = [f"{side.name}.{side.time}" for side in sides]

    def transition(self, batch: pa.RecordBatch, stream: int = 0) -> pa.RecordBatch:
        """Append the ages as columns."""
        moments = [batch.column(time).view(pa.int64()).to_numpy() for time in self._times]
        starts = np.clip(np.stack(moments), START_OF_TIME, LAST_MOMENT)
        ages = starts.max(axis=0) - starts
        return pa.RecordBatch.from_arrays([*batch.columns, *map(pa.array, ages)], schema=self.schema)
