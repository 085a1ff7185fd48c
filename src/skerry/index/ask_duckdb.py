"""Expressions over a batch, evaluated by DuckDB: in one statement, or, where one fails, without the failing rows."""

from collections.abc import Sequence

import duckdb
import pyarrow as pa

from skerry.index.constants import Evaluator
from skerry.model.batch import empty

__all__ = ["ask_duckdb", "ask_type", "ask_where_possible", "join_in_duckdb"]


def ask_duckdb(expressions: Sequence[str], batch: pa.RecordBatch, evaluator: Evaluator) -> list[pa.Array]:
    """The values of expressions, a row each.

    >>> [found] = ask_duckdb(["speed * 2"], pa.record_batch({"speed": [10, None]}), duckdb.connect)
    >>> found.to_pylist()
    [20, None]
    """
    if not expressions:
        return []
    columns = ", ".join(f"({expression}) AS c{index}" for index, expression in enumerate(expressions))
    connection = evaluator()
    connection.register("batch", pa.Table.from_batches([batch]))
    try:
        table = connection.sql(f"SELECT {columns} FROM batch").to_arrow_table()
    finally:
        connection.unregister("batch")
    return [column.combine_chunks() for column in table.columns]


def ask_type(expression: str, schema: pa.Schema, evaluator: Evaluator) -> pa.DataType | None:
    """The type of an expression over columns; None if DuckDB does not take it."""
    try:
        (found,) = ask_duckdb([expression], empty(schema), evaluator)
    except duckdb.Error:
        return None
    return found.type


def ask_where_possible(expression: str, batch: pa.RecordBatch, evaluator: Evaluator) -> pa.Array | None:
    """NULL where it fails. TRY does not catch all errors: the rows that raise the others are found by halving.

    None if it fails on every row in such a way.
    """
    try:
        return ask_duckdb([f"TRY({expression})"], batch, evaluator)[0]
    except duckdb.Error:
        if batch.num_rows <= 1:
            return None
    middle = batch.num_rows // 2
    halves = [batch.slice(0, middle), batch.slice(middle)]
    found = [ask_where_possible(expression, half, evaluator) for half in halves]
    types = [array.type for array in found if array is not None]
    if not types:
        return None
    filled = [
        pa.nulls(half.num_rows, types[0]) if array is None else array for half, array in zip(halves, found, strict=True)
    ]
    return pa.concat_arrays(filled)


def join_in_duckdb(
    condition: str, names: Sequence[str], batch: pa.RecordBatch, others: pa.RecordBatch, evaluator: Evaluator
) -> list[pa.Array]:
    """Some columns of the pairs of a row of each for which a condition is true.

    >>> one, other = pa.record_batch({"speed": [10, 50]}), pa.record_batch({"limit": [5, 30]})
    >>> speeds, limits = join_in_duckdb('"speed" > "limit"', ["speed", "limit"], one, other, duckdb.connect)
    >>> sorted(zip(speeds.to_pylist(), limits.to_pylist()))
    [(10, 5), (50, 5), (50, 30)]
    """
    chosen = ", ".join(f'"{name}"' for name in names)
    connection = evaluator()
    connection.register("batch", pa.Table.from_batches([batch]))
    connection.register("others", pa.Table.from_batches([others]))
    try:
        table = connection.sql(f"SELECT {chosen} FROM batch, others WHERE ({condition})").to_arrow_table()
    finally:
        connection.unregister("batch")
        connection.unregister("others")
    return [column.combine_chunks() for column in table.columns]
