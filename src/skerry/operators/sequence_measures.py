"""What is given of each match: the first or last row of a symbol, and aggregates over its rows."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from skerry.kernels.sequences import Found
from skerry.model.arrays import Int64s
from skerry.model.batch import empty
from skerry.plan.sequences import ANY, Measure, Sequences

__all__ = ["measure_matches"]


def measure_matches(node: Sequences, found: Found, derived: pa.RecordBatch) -> pa.RecordBatch:
    """One row per match. ``derived`` are the rows that were searched."""
    count = found.starts.size
    if not count:
        return empty(node.schema)
    rows = _Matched(found)
    columns = [derived.column(key).take(pa.array(found.starts)) for key in node.keys]
    for measure in node.measures:
        columns.append(rows.measure(measure, derived, node.symbols).cast(measure.type))
    return pa.RecordBatch.from_arrays(columns, schema=node.schema)


class _Matched:
    """The rows of matches: which match each is of, which row, as which symbol."""

    def __init__(self, found: Found) -> None:
        self.count = found.starts.size
        self.matches: Int64s = np.repeat(np.arange(self.count), found.lengths)
        first = np.cumsum(found.lengths) - found.lengths
        self.rows: Int64s = found.starts[self.matches] + np.arange(self.matches.size) - first[self.matches]
        self.symbols = found.symbols

    def measure(self, measure: Measure, derived: pa.RecordBatch, names: tuple[str, ...]) -> pa.Array:
        """One value per match."""
        chosen = np.ones(self.rows.size, np.bool_) if measure.symbol == ANY else self.symbols == measure.symbol
        matches, rows = self.matches[chosen], self.rows[chosen]
        if measure.function == "symbol":
            last = self._pick(self.matches, self.symbols, is_first=False)
            return pa.array(names).take(pa.array(last))
        if measure.function in ("first", "last"):
            picked = self._pick(matches, rows, is_first=measure.function == "first")
            return derived.column(measure.column).take(pa.array(np.maximum(picked, 0), mask=picked < 0))
        if measure.column is None:
            return pa.array(np.bincount(matches, minlength=self.count))
        return self._aggregate(measure, matches, derived.column(measure.column).take(pa.array(rows)))

    def _pick(self, matches: Int64s, values: Int64s, *, is_first: bool) -> Int64s:
        """The first or last value of each match; -1 where there is none."""
        picked = np.full(self.count, -1, np.int64)
        picked[matches[::-1] if is_first else matches] = values[::-1] if is_first else values
        return picked

    def _aggregate(self, measure: Measure, matches: Int64s, values: pa.Array) -> pa.Array:
        """Over the values that are not NULL; NULL without any, but a count of 0."""
        table = pa.table({"match": pa.array(matches), "value": values})
        totals = table.group_by("match", use_threads=False).aggregate([("value", measure.function)])
        index = pc.index_in(pa.array(np.arange(self.count)), totals.column("match").combine_chunks())
        found = totals.column(f"value_{measure.function}").combine_chunks().take(index)
        return found.fill_null(0) if measure.function == "count" else found
