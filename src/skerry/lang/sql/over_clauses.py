"""Which time an OVER clause goes by, and whether what it looks at is bounded."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
from sqlglot import exp

from skerry.errors import SqlError
from skerry.lang.sql.statements import location_of
from skerry.lang.sql.window_reads import OverTime, WindowReads
from skerry.model.types import TIMESTAMP, sql_name
from skerry.plan.node import Node
from skerry.plan.over import Call, Clause, OrderKey
from skerry.plan.project import Project

__all__ = ["PlannedWindow", "make_clauses"]

_RANGE = "RANGE BETWEEN INTERVAL '1' HOUR PRECEDING AND CURRENT ROW"
_WINDOW = "FROM TUMBLE(stream, ts, INTERVAL '1' MINUTE) with PARTITION BY window_start"


@dataclass(frozen=True)
class PlannedWindow:
    """The brackets of an OVER clause, over columns below; ``tree`` is where they were read."""

    partition: tuple[str, ...]
    order: tuple[OrderKey, ...]
    tree: exp.Expr


def make_clauses(
    below: Node,
    calls: Sequence[tuple[PlannedWindow, Call]],
    ordered: PlannedWindow | None,
    reads: WindowReads,
    tree: exp.Select,
) -> tuple[OverTime, tuple[Clause, ...]]:
    """The time that all clauses go by, and the clauses. ``ordered`` is the one of ORDER BY, which has no function."""
    windows = list(dict.fromkeys([*(window for window, _ in calls), *([ordered] if ordered else [])]))
    time, whole = _find_time(below, windows, reads)
    grouped: dict[tuple[object, ...], list[tuple[PlannedWindow, Call]]] = {}
    for window, call in calls:
        is_whole = window in whole
        _check_types(below.schema, window, call)
        if not is_whole:
            _check_bounded(window, call)
        # Rows that are kept for a span and rows that are kept by their number are let go of apart.
        key = window.partition, window.order, is_whole, bool(call.span_us) and not is_whole
        grouped.setdefault(key, []).append((window, call))
    found = [
        Clause(members[0][0].partition, members[0][0].order, tuple(call for _, call in members), members[0][0] in whole)
        for members in grouped.values()
    ]
    if ordered:
        found.append(Clause(ordered.partition, (), (), is_whole=True))
    _check_waiting(found, tree)
    return time, tuple(found)


def _find_time(
    below: Node, windows: Sequence[PlannedWindow], reads: WindowReads
) -> tuple[OverTime, frozenset[PlannedWindow]]:
    """The time that all go by, and the windows whose partitions have one time, or are in one window."""
    found = {window: list(_find_times(below, window, reads)) for window in windows}
    for window, times in found.items():
        if not times:
            raise _refuse_order(below, window)
    first, *others = found.values()
    shared = [time for time, _ in first if all(time in [each for each, _ in other] for other in others)]
    columns = {time.column for time in shared}
    if not shared:  # a window, and readings in it one by one, go by one time too
        names = [{time.column for time, _ in times} for times in found.values()]
        columns = names[0].intersection(*names[1:])
    if not columns:
        message = "the OVER clauses of a SELECT go by one time; let one view read the other"
        raise SqlError(message, location_of(windows[-1].tree))
    column = next(time.column for time, _ in first if time.column in columns)
    spans = [time.window for times in found.values() for time, _ in times if time.column == column and time.window]
    whole = {window for window, times in found.items() if any(t.column == column and is_whole for t, is_whole in times)}
    return OverTime(column, spans[0] if spans else None), frozenset(whole)


def _find_times(below: Node, window: PlannedWindow, reads: WindowReads) -> Iterator[tuple[OverTime, bool]]:
    """Times that a clause can go by, and whether its partitions are whole then."""
    for name in window.partition:
        time = reads.find(name)
        if time is not None and below.lag_us(time.column) is not None:
            yield OverTime(_find_first_name(below, time.column), time.window), True
        elif below.lag_us(name) is not None:
            yield OverTime(_find_first_name(below, name)), True
    first = window.order[0] if window.order else None
    if first and not first.descending and below.lag_us(first.column) is not None:
        yield OverTime(_find_first_name(below, first.column)), False


def _find_first_name(below: Node, column: str) -> str:
    """One name for a column that was written as ``ts`` and as ``s.ts``."""
    if not isinstance(below, Project):
        return column
    origin = dict(below.columns)[column].column
    return next(name for name, expression in below.columns if expression.column == origin or name == column)


def _refuse_order(below: Node, window: PlannedWindow) -> SqlError:
    meaning = getattr(below, "meaning", str)
    # What was named is below; a time that nobody named is one step further down.
    named = [meaning(name) for name in below.time_columns]
    times = named or [name for each in below.inputs for name in each.time_columns]
    first = window.order[0] if window.order else None
    if first and first.descending and below.lag_us(first.column) is not None:
        message = f"which row is the last by {meaning(first.column)} is never settled while readings come"
        return SqlError(f"{message}; order by it ascending, or within a window: {_WINDOW}", location_of(window.tree))
    known = f"ORDER BY {times[0]}" if times else "ORDER BY the time that WATERMARK FOR declares"
    message = f"rows are taken in the order of their time: OVER (PARTITION BY ... {known})"
    return SqlError(f"{message}; any other order goes within a window: {_WINDOW}", location_of(window.tree))


def _check_types(schema: pa.Schema, window: PlannedWindow, call: Call) -> None:
    """A partition needs values that are equal or not, and a span of time a time."""
    nested = [name for name in window.partition if pa.types.is_nested(schema.field(name).type)]
    if nested:
        type_ = sql_name(schema.field(nested[0]).type)
        raise SqlError(f"PARTITION BY cannot compare {type_}; cast it", location_of(window.tree))
    offsets = [offset for offset in (call.frame.start, call.frame.end) if offset]
    if call.frame.by_rows or not offsets:
        return
    key = window.order[0] if len(window.order) == 1 else None
    if key is None or key.descending or schema.field(key.column).type != TIMESTAMP:
        message = "RANGE with a span of time goes by one time, ascending: OVER (ORDER BY ts RANGE BETWEEN ...)"
        raise SqlError(message, location_of(window.tree))


def _check_bounded(window: PlannedWindow, call: Call) -> None:
    """Refuse what would need all rows of a partition that has no end."""
    name, frame = call.text.partition("(")[0], call.frame
    if call.function in ("ntile", "percent_rank", "cume_dist"):
        raise SqlError(f"{name} goes by all rows of a partition; write {_WINDOW}", location_of(window.tree))
    if call.function not in ("first_value", "last_value", "nth_value", "fold", "aggregate"):
        return
    if frame.end is None or (frame.end > 0 and not frame.by_rows):
        message = "what follows is waited for row by row: ROWS BETWEEN CURRENT ROW AND 3 FOLLOWING"
        raise SqlError(f"{message}; or within a window: {_WINDOW}", location_of(window.tree))
    if frame.start is not None:
        return
    if call.function in ("aggregate", "nth_value"):
        message = f"{name} over all rows since the first keeps every one of them; bound it: {_RANGE}"
        raise SqlError(f"{message}, or {_WINDOW}", location_of(window.tree))
    if frame.end not in (0, -1) or (frame.end == -1 and not frame.by_rows):
        message = "a frame without a start ends with CURRENT ROW or 1 PRECEDING"
        raise SqlError(f"{message}; bound it: {_RANGE}", location_of(window.tree))


def _check_waiting(clauses: Sequence[Clause], tree: exp.Select) -> None:
    """Refuse functions beside those that wait for rows that follow, where they would be given at other times."""
    if not any(clause.looks_ahead for clause in clauses):
        return
    runs_on = any(call.runs_on and not clause.is_whole for clause in clauses for call in clause.calls)
    if len(clauses) > 1 or runs_on:
        message = "LEAD and FOLLOWING wait for rows; beside them are functions over the same partition alone"
        raise SqlError(f"{message}, with frames that are bounded; let one view read the other", location_of(tree))
