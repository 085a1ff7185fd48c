"""What a function finds in the frames of sorted rows."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from skerry.model.arrays import Bools, Int64s
from skerry.model.batch import as_batch
from skerry.model.duckdb_session import register_batch
from skerry.operators.folds import accumulators, finish
from skerry.operators.moving_folds import merge_carried, slide
from skerry.operators.sorted_rows import SortedRows
from skerry.plan.over import Call, Frame

__all__ = ["OVER", "Carried", "carried_fields", "evaluate"]

OVER = "OVER ()"
"""What stands for the frame in an aggregate of DuckDB's."""
_SEEN, _DENSE, _VALUE = "seen", "dense", "value"
_SO_FAR = Frame(by_rows=True)
"""All rows up to the current one: what is kept of functions that run on."""


@dataclass(frozen=True)
class Carried:
    """What was kept of partitions whose functions run on: a row each, and for sorted rows which of them is theirs."""

    table: pa.RecordBatch
    rows: Int64s
    """By sorted row, the row of the table; -1 if its partition is new."""

    def find(self, name: str) -> tuple[pa.Array, Int64s]:
        """A kept value for each sorted row that has one, and those rows."""
        known = np.flatnonzero(self.rows >= 0)
        return self.table.column(name).take(pa.array(self.rows[known])), known

    def numbers(self, name: str) -> Int64s:
        """A kept count for each sorted row, 0 where there is none."""
        if not self.table.num_rows:
            return np.zeros(self.rows.size, np.int64)
        kept = self.table.column(name).fill_null(0).to_numpy()
        return np.where(self.rows >= 0, kept[np.maximum(self.rows, 0)], 0)

    def spread(self, name: str, seen: str) -> tuple[pa.Array, Bools]:
        """A kept value for each sorted row, NULL where there is none; and where there is one."""
        has_value: Bools = self.numbers(seen) > 0
        return self.table.column(name).take(pa.array(np.maximum(self.rows, 0), mask=~has_value)), has_value


def carried_fields(call: Call) -> list[pa.Field]:
    """What is kept of a partition for a function that runs on."""
    if not call.runs_on:
        return []
    if call.fold is not None:
        return [pa.field(f"{call.name}:{each.name}", each.type) for each in accumulators(call.fold)]
    fields = [pa.field(f"{call.name}:{_SEEN}", pa.int64())]
    if call.function == "dense_rank":
        fields.append(pa.field(f"{call.name}:{_DENSE}", pa.int64()))
    if call.function in ("first_value", "last_value"):
        fields.append(pa.field(f"{call.name}:{_VALUE}", call.type))
    return fields


Answer = tuple[pa.Array, dict[str, pa.Array]]
"""What a function gives for each sorted row, and what would be kept of it if the row were the last."""


def evaluate(call: Call, rows: SortedRows, carried: Carried | None) -> Answer:
    """Evaluate a function; with ``carried``, it runs on from there."""
    found, kept = _FUNCTIONS[call.function](call, rows, carried if call.runs_on else None)
    return found, {f"{call.name}:{name}": values for name, values in kept.items()}


def _fold(call: Call, rows: SortedRows, carried: Carried | None) -> Answer:
    assert call.fold is not None
    if carried is None:
        return _fold_due(call, rows), {}
    found = _slide_all(call, rows, carried, call.frame)
    return finish(call.fold, found), found if call.frame.end == 0 else _slide_all(call, rows, carried, _SO_FAR)


def _fold_due(call: Call, rows: SortedRows) -> pa.Array:
    """The answers for rows that are due; what was answered before is not computed again."""
    assert call.fold is not None
    low, high = rows.bounds(call.frame)
    values = rows.column(call.argument) if call.argument else None
    due = rows.due
    found = finish(call.fold, {each.name: slide(each, values, low[due], high[due]) for each in accumulators(call.fold)})
    if due.size == rows.size:
        return found
    positions = np.full(rows.size, -1)
    positions[due] = np.arange(due.size)
    return found.take(pa.array(positions, mask=positions < 0))


def _slide_all(call: Call, rows: SortedRows, carried: Carried, frame: Frame) -> dict[str, pa.Array]:
    """The accumulators of frames, with what was carried over."""
    assert call.fold is not None
    low, high = rows.bounds(frame, runs_on=True)
    values = rows.column(call.argument) if call.argument else None
    found: dict[str, pa.Array] = {}
    for each in accumulators(call.fold):
        added = slide(each, values, low, high)
        found[each.name] = merge_carried(each, added, *carried.find(f"{call.name}:{each.name}"))
    return found


def _aggregate(call: Call, rows: SortedRows, carried: Carried | None) -> Answer:
    """An aggregate of DuckDB's, over frames that are written out row by row."""
    low, high = rows.bounds(call.frame)
    columns = {name: rows.column(name) for name in call.columns}
    # A frame that begins behind its row, or ends before it, may be empty: then its end is before its start.
    is_behind, is_before = (call.frame.start or 0) > 0, (call.frame.end or 0) < 0
    first = low - rows.positions if is_behind else rows.positions - low
    last = rows.positions - high + 1 if is_before else high - 1 - rows.positions
    arrays = [*columns.values(), pa.array(rows.positions), pa.array(first), pa.array(last)]
    batch = pa.RecordBatch.from_arrays(arrays, names=[*columns, "_row", "_first", "_last"])
    start, end = "FOLLOWING" if is_behind else "PRECEDING", "PRECEDING" if is_before else "FOLLOWING"
    over = f"OVER (ORDER BY _row ROWS BETWEEN _first {start} AND _last {end})"
    with register_batch(batch) as connection:
        found = connection.sql(f"SELECT {call.sql.replace(OVER, over)} AS found FROM batch ORDER BY _row")
        return as_batch(found.to_arrow_table()).column(0).cast(call.type), {}


def _shift(call: Call, rows: SortedRows, carried: Carried | None) -> Answer:
    """LAG and LEAD."""
    assert call.argument is not None
    values, sign = rows.column(call.argument), -1 if call.function == "lag" else 1
    if call.ignore_nulls:
        found = _find_valid(values, rows.positions, sign * call.offset)
    else:
        found = rows.positions + sign * call.offset
    is_there = (found >= rows.starts) & (found < rows.stops)
    given = values.take(pa.array(np.where(is_there, found, 0), mask=~is_there))
    if call.default is None:
        return given, {}
    default = rows.column(call.default).cast(call.type, safe=False)
    return pc.if_else(pa.array(is_there), given, default), {}


def _find_valid(values: pa.Array, positions: Int64s, offset: int) -> Int64s:
    """The row of the n-th value that is not NULL before a row, or behind it; a number out of range if there is none."""
    valid = values.is_valid().to_numpy(zero_copy_only=False)
    known = np.flatnonzero(valid)
    before = np.cumsum(valid) - valid
    index = before + offset if offset < 0 else before + valid + offset - 1
    inside = (index >= 0) & (index < known.size)
    return np.where(inside, known[np.clip(index, 0, max(known.size - 1, 0))] if known.size else -1, -1)


def _nth(call: Call, rows: SortedRows, carried: Carried | None) -> Answer:
    """FIRST_VALUE, LAST_VALUE and NTH_VALUE."""
    found, is_there = _find_nth(call, rows, carried, call.frame)
    if carried is None:
        return found, {}
    kept, is_kept = (found, is_there) if call.frame.end == 0 else _find_nth(call, rows, carried, _SO_FAR)
    return found, {_VALUE: kept, _SEEN: pa.array(is_kept.astype(np.int64))}


def _find_nth(call: Call, rows: SortedRows, carried: Carried | None, frame: Frame) -> tuple[pa.Array, Bools]:
    """The value of each frame, and whether there is one."""
    assert call.argument is not None
    values = rows.column(call.argument)
    low, high = rows.bounds(frame, runs_on=carried is not None)
    valid = values.is_valid().to_numpy(zero_copy_only=False) if call.ignore_nulls else np.ones(rows.size, np.bool_)
    known, before = np.flatnonzero(valid), np.concatenate([[0], np.cumsum(valid)])
    index = before[high] - 1 if call.function == "last_value" else before[low] + call.offset - 1
    is_there = (index >= before[low]) & (index < before[high])
    found = known[np.where(is_there, index, 0)] if known.size else np.zeros(rows.size, np.int64)
    given = values.take(pa.array(found, mask=~is_there))
    if carried is None:
        return given, is_there
    earlier, has_earlier = carried.spread(f"{call.name}:{_VALUE}", f"{call.name}:{_SEEN}")
    is_earlier = has_earlier if call.function == "first_value" else has_earlier & ~is_there
    return pc.if_else(pa.array(is_earlier), earlier, given), is_there | has_earlier


def _number(call: Call, rows: SortedRows, carried: Carried | None) -> Answer:
    """ROW_NUMBER, RANK and DENSE_RANK."""
    starts = rows.fresh_starts if carried is not None else rows.starts
    nothing = np.zeros(rows.size, np.int64)
    seen = carried.numbers(f"{call.name}:{_SEEN}") if carried else nothing
    count = rows.positions - starts + 1 + seen
    if call.function == "row_number":
        return pa.array(count), {_SEEN: pa.array(count)}
    if call.function == "rank":
        return pa.array(rows.peer_starts - starts + 1 + seen), {_SEEN: pa.array(count)}
    earlier = carried.numbers(f"{call.name}:{_DENSE}") if carried else nothing
    first = rows.peer_numbers[np.minimum(starts, rows.size - 1)] if rows.size else nothing
    dense = rows.peer_numbers - first + 1 + earlier
    return pa.array(dense), {_SEEN: pa.array(count), _DENSE: pa.array(dense)}


def _percent_rank(call: Call, rows: SortedRows, carried: Carried | None) -> Answer:
    sizes = rows.stops - rows.starts
    return pa.array((rows.peer_starts - rows.starts) / np.maximum(sizes - 1, 1)), {}


def _cume_dist(call: Call, rows: SortedRows, carried: Carried | None) -> Answer:
    return pa.array((rows.peer_stops - rows.starts) / (rows.stops - rows.starts)), {}


def _ntile(call: Call, rows: SortedRows, carried: Carried | None) -> Answer:
    """Parts of a partition, the first ones larger by one where it does not divide."""
    sizes, position, parts = rows.stops - rows.starts, rows.positions - rows.starts, call.offset
    small, larger = sizes // parts, sizes % parts
    edge = larger * (small + 1)
    behind = larger + (position - edge) // np.maximum(small, 1)
    return pa.array(np.where(position < edge, position // (small + 1), behind) + 1), {}


_FUNCTIONS: Mapping[str, Callable[[Call, SortedRows, Carried | None], Answer]] = {
    "aggregate": _aggregate,
    "cume_dist": _cume_dist,
    "dense_rank": _number,
    "first_value": _nth,
    "fold": _fold,
    "lag": _shift,
    "last_value": _nth,
    "lead": _shift,
    "nth_value": _nth,
    "ntile": _ntile,
    "percent_rank": _percent_rank,
    "rank": _number,
    "row_number": _number,
}
