"""Selection, projection and scalar expressions on Arrow batches: by DuckDB, or by Arrow where that gives the same."""

from collections.abc import Sequence

import duckdb
import pyarrow as pa

from skerry.model.batch import as_batch, empty, join
from skerry.model.duckdb_session import register_batch
from skerry.model.expression import Expression
from skerry.operators.operator import Operator

__all__ = ["Derive"]

_OF_NO_ROW = (
    *(duckdb.BinderException, duckdb.CatalogException, duckdb.ConnectionException, duckdb.FatalException),
    *(duckdb.InternalException, duckdb.InterruptException, duckdb.IOException, duckdb.PermissionException),
)
"""What DuckDB raises whatever the values are. All else is for a value that an expression cannot take; some of these
errors have no class of their own."""


class Derive(Operator):
    """Keep the rows where a predicate holds, and compute columns from them.

    An expression that fails on a row (a text that is no number, a value out of range) is NULL for
    that row, and a predicate that fails does not hold. Stateless; costs about a millisecond a batch
    and some ten nanoseconds a row and expression. A predicate that Arrow decides comes first, for two
    nanoseconds a row, and only the rows it leaves are evaluated; bare columns are not copied.

    >>> speed = Expression.of("speed", pa.float64())
    >>> slow = Derive([("speed", speed)], where=Expression('"speed" < 30', pa.bool_()))
    >>> slow.transition(pa.record_batch({"speed": [20.0, 50.0, None]})).to_pydict()
    {'speed': [20.0]}
    """

    def __init__(self, columns: Sequence[tuple[str, Expression]], where: Expression | None = None) -> None:
        self.schema = pa.schema([pa.field(name, expression.type) for name, expression in columns])
        self._columns = tuple(columns)
        self._predicate = where.predicate if where else None
        self._where = None if self._predicate else where
        self._plain = self._where is None and all(expression.column is not None for _, expression in columns)

    def transition(self, batch: pa.RecordBatch, stream: int = 0) -> pa.RecordBatch:
        """Evaluate the batch."""
        marks = self._predicate.marks(batch) if self._predicate else None
        if self._plain:
            return _keep_marked(self._pick(batch), marks)
        chosen = _keep_marked(batch, marks)
        if chosen.num_rows == 0:
            return empty(self.schema)
        try:
            return self._evaluate(chosen, failing=False)
        except _OF_NO_ROW:
            raise
        except duckdb.Error:
            return self._evaluate_forgiving(chosen)

    def _evaluate_forgiving(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """NULL for what fails. TRY lets some errors pass: find the rows that raise them by halving."""
        try:
            return self._evaluate(batch, failing=True)
        except _OF_NO_ROW:
            raise
        except duckdb.Error:
            if batch.num_rows == 1:
                return self._part_by_part(batch)
            middle = batch.num_rows // 2
            return join(
                [self._evaluate_forgiving(half) for half in (batch.slice(0, middle), batch.slice(middle))], self.schema
            )

    def _part_by_part(self, row: pa.RecordBatch) -> pa.RecordBatch:
        """Each expression by itself over one row."""
        if self._where and not _value(self._where, row)[0].as_py():
            return empty(self.schema)
        return pa.RecordBatch.from_arrays([_value(part, row) for _, part in self._columns], schema=self.schema)

    def _pick(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        arrays = [batch.column(expression.column) for _, expression in self._columns]
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)

    def _evaluate(self, batch: pa.RecordBatch, *, failing: bool) -> pa.RecordBatch:
        with register_batch(batch) as connection:
            table = connection.sql(self._statement(failing=failing)).to_arrow_table()
        return as_batch(table.rename_columns(self.schema.names).cast(self.schema))

    def _statement(self, *, failing: bool) -> str:
        """The whole operator as one SELECT; the parts come from syntax trees."""
        wrap = "TRY({})" if failing else "{}"
        columns = ", ".join(
            f"{expression.sql if expression.column else wrap.format(expression.sql)} AS c{position}"
            for position, (_, expression) in enumerate(self._columns)
        )
        where = f" WHERE {wrap.format(self._where.sql)}" if self._where else ""
        return f"SELECT {columns} FROM batch{where}"


def _keep_marked(batch: pa.RecordBatch, marks: pa.Array | None) -> pa.RecordBatch:
    """The rows that are marked, without a copy where all are."""
    return batch if marks is None or marks.true_count == batch.num_rows else batch.filter(marks)


def _value(expression: Expression, row: pa.RecordBatch) -> pa.Array:
    try:
        return Derive([("value", expression)])._evaluate(row, failing=True).column(0)
    except _OF_NO_ROW:
        raise
    except duckdb.Error:
        return pa.nulls(1, expression.type)
