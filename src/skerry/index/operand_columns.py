"""The operands of an index as columns of one batch: those of the readings, and those that the index derives."""

import json
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from skerry.index.column_codes import Axis, encode_column
from skerry.index.domains import list_types
from skerry.index.region import Derived, Operand
from skerry.model.arrays import Int64s

__all__ = ["OperandColumns", "read_operand", "write_operand"]


class OperandColumns(NamedTuple):
    """A batch, and what was computed of it."""

    batch: pa.RecordBatch
    derived: Mapping[Derived, pa.Array]

    def find(self, operand: Operand) -> pa.Array:
        """The values of an operand; NULL if it was not computed, since no box is about it any more."""
        if isinstance(operand, str):
            return self.batch.column(operand)
        found = self.derived.get(operand)
        return pa.nulls(self.batch.num_rows, operand.type) if found is None else found

    def encode(self, axes: Iterable[Axis], known: dict[Axis, Int64s]) -> Int64s:
        """Readings as points: axis by row. ``known`` are the codes of axes that were encoded before."""
        for axis in axes:
            if axis not in known:
                known[axis] = encode_column(axis, self.find(axis.operand))
        found = [known[axis] for axis in axes]
        return np.stack(found) if found else np.zeros((1, self.batch.num_rows), np.int64)


def write_operand(operand: Operand) -> str:
    """An operand as text.

    >>> read_operand(write_operand("speed")), read_operand(write_operand(Derived("a + b", pa.int32())))
    ('speed', Derived(sql='a + b', type=DataType(int32)))
    """
    return json.dumps([operand] if isinstance(operand, str) else [operand.sql, str(operand.type)])


def read_operand(text: str) -> Operand:
    """The operand that a text says."""
    name, *types = json.loads(text)
    return Derived(name, list_types()[types[0]]) if types else str(name)
