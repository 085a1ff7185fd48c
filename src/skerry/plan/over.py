"""Functions over the rows around a row: OVER, and the order of rows within a window."""

from dataclasses import dataclass, field
from typing import ClassVar

import pyarrow as pa

from skerry.errors import InputError
from skerry.model.time import describe_interval
from skerry.model.types import TIMESTAMP
from skerry.model.window import Window
from skerry.plan.fold import Fold
from skerry.plan.node import Node, OneInput, Stateful
from skerry.plan.project import Project
from skerry.plan.window_ends import find_window_end

__all__ = ["Call", "Clause", "Frame", "OrderKey", "Over"]


@dataclass(frozen=True)
class OrderKey:
    """A column that rows are ordered by."""

    column: str
    descending: bool = False
    nulls_first: bool = False


@dataclass(frozen=True)
class Frame:
    """The rows that a function looks at, from ``start`` to ``end``, as offsets from the current row.

    By rows an offset is a number of rows, by range a span of the order's time in microseconds, and 0 takes in all rows
    that are equal in the order. Negative offsets precede; None has no bound.
    """

    by_rows: bool = False
    start: int | None = None
    end: int | None = 0

    def describe(self) -> str:
        """As a query writes it."""
        return f"{'ROWS' if self.by_rows else 'RANGE'} {self._describe_bound(self.start, 'PRECEDING')}" + (
            "" if self.end == 0 else f" TO {self._describe_bound(self.end, 'FOLLOWING')}"
        )

    def _describe_bound(self, offset: int | None, unbounded: str) -> str:
        if offset is None or offset == 0:
            return f"UNBOUNDED {unbounded}" if offset is None else "CURRENT ROW"
        size = str(abs(offset)) if self.by_rows else describe_interval(abs(offset))
        return f"{size} {'PRECEDING' if offset < 0 else 'FOLLOWING'}"


@dataclass(frozen=True)
class Call:
    """One function over a clause; ``name`` is the column of its answers."""

    name: str
    function: str
    """``lag``, ``lead``, ``first_value``, ...; ``fold`` for an aggregate of ours, ``aggregate`` for one of DuckDB's."""
    type: pa.DataType
    text: str = field(compare=False)
    """As the user wrote it."""
    frame: Frame
    argument: str | None = None
    offset: int = 1
    """How many rows away, which row of the frame, or how many parts, as the function has it."""
    default: str | None = None
    """The column that is given where there is no such row."""
    ignore_nulls: bool = False
    fold: Fold | None = None
    sql: str = ""
    """An aggregate of DuckDB's, over columns of the input."""
    columns: tuple[str, ...] = ()
    """What it is computed from."""

    @property
    def looks_back(self) -> int:
        """How many rows before the current one it needs, at the least: of an unbounded frame one sum is kept."""
        if self.function == "lag":
            return self.offset
        if self.function in _FRAMED and self.frame.by_rows and self.frame.start is not None:
            return max(0, -self.frame.start)
        return 0

    @property
    def looks_ahead(self) -> int:
        """How many rows behind the current one it waits for."""
        if self.function == "lead":
            return self.offset
        if self.function in _FRAMED and self.frame.by_rows and self.frame.end is not None:
            return max(0, self.frame.end)
        return 0

    @property
    def span_us(self) -> int:
        """How long before the current row it looks."""
        is_range = self.function in _FRAMED and not self.frame.by_rows
        return max(0, -self.frame.start) if is_range and self.frame.start is not None else 0

    @property
    def runs_on(self) -> bool:
        """Whether it goes by all rows since the first, of which one accumulator is kept."""
        if self.function == "last_value" and not self.ignore_nulls and self.frame.end == 0:
            return False
        return self.function in _RANKS or (self.function in _FRAMED and self.frame.start is None)


_FRAMED = ("first_value", "last_value", "nth_value", "fold", "aggregate")
_RANKS = ("row_number", "rank", "dense_rank")


@dataclass(frozen=True)
class Clause:
    """What stands in OVER (...) but for the frame, and the functions over it."""

    partition: tuple[str, ...]
    order: tuple[OrderKey, ...]
    calls: tuple[Call, ...]
    is_whole: bool = False
    """Whether a partition is complete when its rows are given: its rows have one time, or are of one window."""

    @property
    def looks_ahead(self) -> int:
        """How many rows it waits for."""
        return 0 if self.is_whole else max((call.looks_ahead for call in self.calls), default=0)

    @property
    def looks_back(self) -> int:
        """How many rows per partition it keeps."""
        if self.is_whole:
            return 0
        back = max((call.looks_back for call in self.calls), default=0)
        return max(back, 1) if any(call.runs_on for call in self.calls) else back

    @property
    def span_us(self) -> int:
        """For how long it keeps rows."""
        return 0 if self.is_whole else max((call.span_us for call in self.calls), default=0)


@dataclass(frozen=True)
class Over(OneInput, Stateful):
    """All rows of the input, when the watermark has passed them, and what functions find in the rows around each.

    Rows go by ``time``; with a ``window``, those of one window come together, when it is over. Rows of a time, or of a
    window, come in ``order``.
    """

    input: Node
    time: str
    clauses: tuple[Clause, ...]
    window: Window | None = None
    order: tuple[OrderKey, ...] = ()
    limit: int | None = None
    """How many rows of each window are given; None gives all."""
    offset: int = 0
    """How many rows of each window are left out before."""
    needs_every_reading: ClassVar[bool] = False
    keeps_columns: ClassVar[bool] = True
    """Whether its columns are those of the input, and more."""

    def __post_init__(self) -> None:
        """Columns must be those of the input, and at most one clause waits for rows that follow."""
        known = self.input.schema.names
        keys = [key.column for clause in self.clauses for key in clause.order]
        used = [name for clause in self.clauses for call in clause.calls for name in call.columns]
        needed = [self.time, *(name for clause in self.clauses for name in clause.partition), *keys, *used]
        missing = [name for name in needed if name not in known]
        if missing:
            raise InputError(f"OVER needs column {missing[0]!r}; its input has {', '.join(known)}")
        if self.input.schema.field(self.time).type != TIMESTAMP:
            raise InputError(f"OVER goes by a TIMESTAMP; {self.time!r} is", self.input.schema.field(self.time).type)
        if len(self.clauses) > 1 and self.looks_ahead:
            raise InputError("rows that follow are waited for by one OVER clause alone")

    @property
    def looks_ahead(self) -> int:
        """How many rows of its partition a row waits for."""
        return max((clause.looks_ahead for clause in self.clauses), default=0)

    @property
    def calls(self) -> tuple[Call, ...]:
        """Those of all clauses."""
        return tuple(call for clause in self.clauses for call in clause.calls)

    @property
    def schema(self) -> pa.Schema:
        """The columns of the input, and the answers of the functions."""
        return pa.schema([*self.input.schema, *(pa.field(call.name, call.type) for call in self.calls)])

    def bucket_keys(self, position: int) -> tuple[str, ...]:
        """What all clauses are partitioned by."""
        first, *others = [clause.partition for clause in self.clauses] or [()]
        return tuple(name for name in first if all(name in other for other in others))

    def time_of(self, position: int) -> str | None:
        """The time that rows go by."""
        return self.time

    def lag_us(self, column: str) -> int | None:
        """A row is given when the watermark has passed it, or its window; what waits for other rows may be any old."""
        if self.looks_ahead or column not in self.input.schema.names:
            return None
        if self._is_time(column):
            return self.window.size_us if self.window else 0
        mine, other = (find_window_end(self.input, name) for name in (self.time, column))
        if mine is None or other is None or mine[0] is not other[0] or self.window is not None:
            return None
        lags = [mine[0].lag_us(end) for _, end in (other, mine)]
        return max(0, lags[0] - lags[1]) if lags[0] is not None and lags[1] is not None else None

    def _is_time(self, column: str) -> bool:
        """Whether a column is the time, perhaps under another name."""
        columns = dict(self.input.columns) if isinstance(self.input, Project) else {}
        below = columns[self.time].column if columns else None
        return column == self.time or (below is not None and columns[column].column == below)

    def columns_below(self, position: int, wanted: frozenset[str]) -> frozenset[str]:
        """Those, and what functions and orders are about."""
        orders = [key.column for keys in (self.order, *(clause.order for clause in self.clauses)) for key in keys]
        partitions = [name for clause in self.clauses for name in clause.partition]
        used = [name for call in self.calls for name in call.columns]
        own = {call.name for call in self.calls}
        return (wanted - own) | {self.time, *orders, *partitions, *used}

    def describe(self) -> str:
        """The functions."""
        calls = "; ".join(call.text for call in self.calls)
        keys = [f"{self._meaning(key.column)}{' DESC' if key.descending else ''}" for key in self.order]
        found = [calls] if calls else []
        found += [f"rows of each window by {', '.join(keys)}"] if keys else []
        if self.limit is not None or self.offset:
            count = "all" if self.limit is None else str(self.limit)
            found.append(f"{count} rows of each window" + (f" behind the first {self.offset}" if self.offset else ""))
        return f"Over {'; '.join(found)}"

    def describe_buckets(self) -> str:
        """By what all clauses are partitioned by."""
        keys = self.bucket_keys(0)
        names = [self._meaning(name) for name in keys]
        return f"by {', '.join(names)}" if keys else "in one bucket, since OVER has no PARTITION BY that all share"

    def describe_state(self) -> str:
        """The rows that wait, and those that are still looked at."""
        waits = f"its window ({self.window.describe()})" if self.window else "them"
        parts = [f"rows until the watermark has passed {waits}"]
        for clause in self.clauses:
            parts += _describe_kept(clause)
        return ", ".join(dict.fromkeys(parts))

    def meanings(self) -> dict[str, str]:
        """What columns that only the plan knows were computed from."""
        below = {name: self._meaning(name) for name in self.input.schema.names if name.startswith("_over")}
        return below | {call.name: call.text for call in self.calls}

    def _meaning(self, column: str) -> str:
        texts = {call.name: call.text for call in self.calls}
        is_below = isinstance(self.input, Project) and column in self.input.schema.names
        return self.input.meaning(column) if is_below and isinstance(self.input, Project) else texts.get(column, column)


def _describe_kept(clause: Clause) -> list[str]:
    """What is kept of rows that were given."""
    found = []
    runs_on = any(call.runs_on for call in clause.calls) and not clause.is_whole
    if clause.span_us:
        found.append(f"rows for {describe_interval(clause.span_us)}")
    rows = clause.looks_back + clause.looks_ahead
    if rows and (not runs_on or rows > 1):
        last = "the last row" if rows == 1 else f"the last {rows} rows"
        found.append(f"{last} per partition (it grows with the partitions)")
    if runs_on:
        found.append("one accumulator per partition (it grows with the partitions; a window would bound it)")
    return found
