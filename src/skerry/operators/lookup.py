"""A stream beside a table: the stream drives, the table is asked."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from skerry.model.arrays import Int64s
from skerry.model.batch import join
from skerry.model.expression import Expression
from skerry.operators.derive import Derive
from skerry.operators.joins.keys import equal_keys, is_exact, key_codes
from skerry.operators.operator import Operator

__all__ = ["Lookup"]

_PAIRS = 2**20
"""How many pairs of a row and a row of the table are made at a time, where every row of the table is one."""
_PAIR = "#pair"


class Lookup(Operator):
    """Each row with every row of a table that has equal keys, the table's columns behind its name.

    The table is indexed once, by sorted codes of its keys; a row that finds nothing is dropped, and NULL
    finds nothing. Without keys every row of the table is found; pairs are made some at a time, and only those are kept
    for which ``pair_condition`` holds. Stateless: another version of the table is another operator.

    >>> table = pa.record_batch({"id": [1, 1], "road": ["E6", "E18"]})
    >>> key = Expression.of("id", pa.int64())
    >>> lookup = Lookup(pa.schema({"id": pa.int64()}), "t", table, [(key, key)])
    >>> lookup.transition(pa.record_batch({"id": [1, 2]})).to_pydict()
    {'id': [1, 1], 't.id': [1, 1], 't.road': ['E6', 'E18']}
    """

    def __init__(
        self,
        schema: pa.Schema,
        name: str,
        table: pa.RecordBatch,
        keys: Sequence[tuple[Expression, Expression]],
        pair_condition: Expression | None = None,
    ) -> None:
        self._width = len(schema)
        self.schema = pa.schema([*schema, *(field.with_name(f"{name}.{field.name}") for field in table.schema)])
        self._of_row = Derive([(f"{position}", mine) for position, (mine, _) in enumerate(keys)])
        of_table = Derive([(f"{position}", other) for position, (_, other) in enumerate(keys)])
        self._verifies = not is_exact(of_table.schema.types)
        self._keys = of_table.transition(table)
        codes, joinable = key_codes(self._keys.columns, table.num_rows)
        known = np.flatnonzero(joinable)
        self._rows = known[np.argsort(codes[known], kind="stable")]
        self._codes = codes[self._rows]
        self._table = table
        self._piece = _PAIRS // max(1, table.num_rows) + 1 if not keys else None
        self._asked = Derive([(_PAIR, Expression.of(_PAIR, pa.int64()))], pair_condition) if pair_condition else None

    def transition(self, batch: pa.RecordBatch, stream: int = 0) -> pa.RecordBatch:
        """Look each row up."""
        size = self._piece or batch.num_rows
        pieces = [self._look_up(batch.slice(first, size)) for first in range(0, batch.num_rows, size or 1)]
        nothing = self._put_together(batch.slice(0, 0), self._table.slice(0, 0))
        return join(pieces, nothing.schema)

    def _look_up(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Some rows, each with all that was found for it."""
        rows, found = self._find(batch)
        return self._put_together(batch.take(pa.array(rows)), self._table.take(pa.array(found)))

    def _find(self, batch: pa.RecordBatch) -> tuple[Int64s, Int64s]:
        """Rows of a batch, and the rows of the table that belong to them; each pair once."""
        rows, found = self._match(batch)
        if self._asked is None or not rows.size:
            return rows, found
        pairs = self._put_together(batch.take(pa.array(rows)), self._table.take(pa.array(found)))
        numbered = pairs.append_column(pa.field(_PAIR, pa.int64()), pa.array(np.arange(rows.size)))
        kept = self._asked.transition(numbered).column(0).to_numpy()
        return rows[kept], found[kept]

    def _put_together(self, rows: pa.RecordBatch, beside: pa.RecordBatch) -> pa.RecordBatch:
        """Rows and what was found for them; behind it what rows carry for others, the order of their arrival."""
        columns = [*rows.columns[: self._width], *beside.columns, *rows.columns[self._width :]]
        carried = list(rows.schema)[self._width :]
        schema = pa.schema([*self.schema, *carried]) if carried else self.schema
        return pa.RecordBatch.from_arrays(columns, schema=schema)

    def _match(self, batch: pa.RecordBatch) -> tuple[Int64s, Int64s]:
        """Rows of a batch, and the rows of the table that have equal keys; each pair once."""
        keys = self._of_row.transition(batch)
        codes, joinable = key_codes(keys.columns, batch.num_rows)
        first = np.searchsorted(self._codes, codes, side="left")
        counts = np.where(joinable, np.searchsorted(self._codes, codes, side="right") - first, 0)
        rows = np.repeat(np.arange(batch.num_rows), counts)
        within = np.arange(rows.size) - np.repeat(np.cumsum(counts) - counts, counts)
        found = self._rows[np.repeat(first, counts) + within]
        if self._verifies:
            same = equal_keys(keys.take(pa.array(rows)), self._keys.take(pa.array(found)))
            rows, found = rows[same], found[same]
        return rows, found
