"""Answers of a join: rows of all sides, put side by side."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from skerry.model.batch import empty
from skerry.operators.joins.keys import equal_keys, is_exact
from skerry.plan.side import Side

__all__ = ["Combiner"]


class Combiner:
    """Makes answers of the rows that a technique found. ``schema`` is that of the answers."""

    def __init__(self, sides: Sequence[Side]) -> None:
        self._sides = tuple(sides)
        self.schema = pa.schema([field for side in self._sides for field in side.fields])
        self.nothing = empty(self.schema)
        self._is_exact = is_exact([self._sides[0].schema.field(key).type for key in self._sides[0].keys])

    def combine(self, taken: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
        """Row i of each side, in one; only if their keys are equal indeed, and not their hashes alone.

        The batches may have columns behind those of their sides, which are left out.
        """
        columns = [column for side, rows in zip(self._sides, taken, strict=True) for column in _own_columns(side, rows)]
        answers = pa.RecordBatch.from_arrays(columns, schema=self.schema)
        if self._is_exact or not answers.num_rows:
            return answers
        first, *others = (rows.select(side.keys) for side, rows in zip(self._sides, taken, strict=True))
        same = np.ones(answers.num_rows, np.bool_)
        for other in others:
            same &= equal_keys(first, other)
        return answers if same.all() else answers.filter(pa.array(same))


def _own_columns(side: Side, rows: pa.RecordBatch) -> list[pa.Array]:
    return rows.columns[: len(side.schema)]
