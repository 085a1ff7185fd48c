"""What boxes cannot express: predicates that DuckDB decides, on the readings that are in a box already.

An expression that fails on a reading is not true for it, and takes nothing from the others: they are asked
together, and, if that fails, one by one, and a failing one on ever fewer readings.
"""

from collections.abc import Sequence

import duckdb
import numpy as np
import pyarrow as pa

from skerry.index.constants import Evaluator
from skerry.model.arrays import Bools

__all__ = ["Residuals"]


_TOGETHER = 64
"""How many expressions are asked in one statement."""


class Residuals:
    """Decides expressions. One that has failed is asked by itself from then on.

    >>> rows = pa.record_batch({"speed": [10, 0], "plate": ["7", "x"]})
    >>> residuals = Residuals(duckdb.connect)
    >>> [found.tolist() for found in residuals.decide(["speed > 5", "CAST(plate AS INT) = 7"], rows)]
    [[True, False], [True, False]]
    """

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator = evaluator
        self._failing: set[str] = set()

    def decide(self, expressions: Sequence[str], batch: pa.RecordBatch) -> list[Bools]:
        """For each expression, of which rows it is true."""
        sound = [expression for expression in expressions if expression not in self._failing]
        found: dict[str, Bools] = {}
        for first in range(0, len(sound), _TOGETHER):
            some = sound[first : first + _TOGETHER]
            try:
                found |= zip(some, _ask(some, batch, self._evaluator), strict=True)
            except duckdb.Error:
                self._failing |= {one for one in some if _fails(one, batch, self._evaluator)}
        alone = (expression for expression in expressions if expression not in found)
        found |= {expression: _ask_each(expression, batch, self._evaluator) for expression in alone}
        return [found[expression] for expression in expressions]


def _fails(expression: str, batch: pa.RecordBatch, evaluator: Evaluator) -> bool:
    try:
        _ask([expression], batch, evaluator)
    except duckdb.Error:
        return True
    return False


def _ask_each(expression: str, batch: pa.RecordBatch, evaluator: Evaluator) -> Bools:
    """False where it fails. TRY does not catch all errors: the rows that raise the others are found by halving."""
    try:
        return _ask([f"TRY({expression})"], batch, evaluator)[0]
    except duckdb.Error:
        if batch.num_rows == 1:
            return np.zeros(1, np.bool_)
        middle = batch.num_rows // 2
        halves = (batch.slice(0, middle), batch.slice(middle))
        return np.concatenate([_ask_each(expression, half, evaluator) for half in halves])


def _ask(expressions: Sequence[str], batch: pa.RecordBatch, evaluator: Evaluator) -> list[Bools]:
    columns = ", ".join(f"coalesce(({expression}), FALSE) AS c{index}" for index, expression in enumerate(expressions))
    connection = evaluator()
    connection.register("batch", pa.Table.from_batches([batch]))
    try:
        table = connection.sql(f"SELECT {columns} FROM batch").to_arrow_table()
    finally:
        connection.unregister("batch")
    return [column.combine_chunks().to_numpy(zero_copy_only=False) for column in table.columns]
