"""The relations of a join: streams with their windows, tables beside them, and the names that both have."""

from collections.abc import Sequence

import pyarrow as pa
from sqlglot import exp

from skerry.errors import SqlError
from skerry.lang.sql.clauses import bind_all, write_conditions
from skerry.lang.sql.from_clause import From
from skerry.lang.sql.join_items import JoinItem
from skerry.lang.sql.join_scope import JoinScope
from skerry.lang.sql.join_window import check_ends, find_window, is_hop, keep_for_window
from skerry.lang.sql.scalar import scalar
from skerry.lang.sql.statements import location_of
from skerry.lang.sql.table_ties import is_lookup, look_up, tie_tables
from skerry.model.arrival import STAMPS
from skerry.model.expression import Expression
from skerry.model.types import TIMESTAMP
from skerry.model.window import WINDOW_END, WINDOW_START, Window
from skerry.plan.in_windows import InWindows
from skerry.plan.newest import NEWEST
from skerry.plan.node import Node
from skerry.plan.project import Project
from skerry.plan.scan import Scan
from skerry.plan.select import Select
from skerry.plan.side import Side

__all__ = ["JoinRelations"]

_MOST_STREAMS = 64
_UNTIL = "#until"


class JoinRelations:
    """What a join reads. ``conditions`` are those that are left once tables have their streams."""

    def __init__(
        self,
        tree: exp.Select,
        reads: Sequence[From],
        items: dict[int, JoinItem],
        conditions: list[exp.Expr],
        *,
        grouped: bool,
    ) -> None:
        self.tree, self.reads, self.conditions = tree, list(reads), conditions
        self.streams = [position for position, read in enumerate(reads) if not is_lookup(read)]
        self._sources = [read.source for read in reads]
        self._merged = {name for item in items.values() for name in item.merged}
        self._lay_windows(grouped)
        self._check_reads()
        self._everywhere = self._over(range(len(reads)))
        self._ties = tie_tables(self.reads, items, conditions, self._everywhere, tree)
        self._homes = {stream: stream for stream in self.streams}
        self._homes |= {table: tie.home for table, tie in self._ties.items()}
        of_streams = [items[stream] for stream in self.streams if stream in items]
        emptied = {stream for stream in self.streams if any(item.empties(stream) for item in of_streams)}
        self.nullable = frozenset(position for position, home in self._homes.items() if home in emptied)
        self._check_tables(items)
        self._keeps_windows = any(item.empties(stream) for item in of_streams for stream in self.streams)
        windowed = [stream for stream in self.streams if self.reads[stream].window]
        by_newest = grouped and windowed == self.streams and set(windowed) <= self.nullable
        added = [pa.field(NEWEST, TIMESTAMP)] if by_newest else []
        self.scope = self._over(range(len(reads)), joined=len(self.streams) > 1, added=added)
        self.own: dict[int, list[exp.Expr]] = {stream: [] for stream in self.streams}
        """What is asked of one stream alone, and its tables."""

    @property
    def times(self) -> tuple[str, ...]:
        """The times of all streams, as combinations have them."""
        return tuple(f"{self.reads[stream].name}.{self.reads[stream].time}" for stream in self.streams)

    def home(self, tree: exp.Expr) -> set[int]:
        """The streams that an expression is about."""
        return {self._homes[position] for position in self._everywhere.owners(tree)}

    def time_of(self, column: exp.Column) -> int | None:
        """The stream whose time a column is."""
        owners = self._everywhere.owners(column)
        position = owners.pop() if len(owners) == 1 else None
        if position not in self.streams or not isinstance(column.this, exp.Identifier):
            return None
        read = self.reads[position]
        return position if read.scope.find(exp.Column(this=column.this.copy())) == read.time else None

    def is_same_window(self, part: exp.Expr) -> bool:
        """Whether a condition says that two readings are in one window, as they are anyway where both have one."""
        if not isinstance(part, exp.EQ):
            return False
        ends = (part.left.unnest(), part.right.unnest())
        names = {end.name.lower() if isinstance(end, exp.Column) else "" for end in ends}
        owners = self._everywhere.owners(part)
        is_end = names in ({WINDOW_START}, {WINDOW_END})
        return is_end and len(owners) > 1 and all(self.reads[position].window for position in owners)

    def side_scope(self, home: int) -> JoinScope:
        """The names beside one stream."""
        return self._over([home, *(position for position, of in self._homes.items() if of == home != position)])

    def build_beside(self, home: int) -> Node:
        """What runs beside a stream's source: its own conditions, and its tables."""
        read, own = self.reads[home], self.own[home]
        node = self._scan(home)
        first = [part for part in own if self._everywhere.owners(part) <= {home}]
        later = [part for part in own if not any(part is each for each in first)]
        if asked := bind_all(first, read.scope):
            node = Select(node, asked, write_conditions(first))
        scope, known = self.side_scope(home), {home}
        for table, tie in self._ties.items():
            if tie.home == home:
                known.add(table)
                # Of every pair few may be wanted: what is asked of pairs is asked as they are made.
                pairs = [] if tie.equal else [part for part in later if self._is_of(part, table, known)]
                later = [part for part in later if not any(part is each for each in pairs)]
                node = look_up(node, self.reads[table], tie, scope, pairs)
        asked = bind_all(later, scope)
        return Select(node, asked, write_conditions(later)) if asked else node

    def side(self, home: int, keys: Sequence[Expression], span_us: int | None) -> tuple[Node, Side]:
        """One stream as a side of a join: the columns that are needed of it, and what is compared."""
        read = self.reads[home]
        node = self.build_beside(home)
        assert read.time is not None
        used = [name for name in node.schema.names if name == read.time or f"{read.name}.{name}" in self.scope.used]
        columns = {name: Expression.of(name, node.schema.field(name).type) for name in used}
        names = []
        for number, key in enumerate(keys):
            names.append(key.column or f"#{number}")
            columns.setdefault(names[-1], key)
        if any(other.last_rows for other in self.reads):
            columns |= {stamp.name: Expression.of(stamp.name, stamp.type) for stamp in STAMPS}
        until = _UNTIL if read.window and (self._keeps_windows or is_hop(read)) else None
        if until:
            last = exp.Sub(
                this=exp.column(WINDOW_END), expression=exp.Interval(this=exp.Literal.string("1 microsecond"))
            )
            columns[until] = scalar(last, read.scope)
        projected = Project(node, tuple(columns.items()))
        window = read.window.describe() if read.window else ""
        last_rows = read.last_rows if span_us is None else None
        side = Side(
            read.name, projected.schema, tuple(names), read.time, span_us, last_rows, until=until, window=window
        )
        return projected, side

    def _is_of(self, part: exp.Expr, table: int, known: set[int]) -> bool:
        owners = self._everywhere.owners(part)
        return table in owners and owners <= known

    def _over(self, positions: Sequence[int], *, joined: bool = False, added: Sequence[pa.Field] = ()) -> JoinScope:
        """The names of some relations: tables' columns behind the table's name; once joined, behind the stream's."""
        reads = [self.reads[position] for position in positions]
        prefixes = [f"{read.name}." if is_lookup(read) else "" for read in reads]
        nullable: frozenset[int] = frozenset()
        if joined:
            streams = [self.reads[self._homes[position]].name for position in positions]
            prefixes = [f"{stream}.{prefix}" for stream, prefix in zip(streams, prefixes, strict=True)]
            nullable = frozenset(rank for rank, position in enumerate(positions) if position in self.nullable)
        return JoinScope(reads, prefixes, frozenset(self._merged), nullable, added)

    def _lay_windows(self, grouped: bool) -> None:
        """Let the streams of a window stay as long as it lasts, where they meet others; its ends are one for all."""
        if grouped:
            check_ends(self.reads, self.tree)
        if grouped or any(read.window for read in self.reads):
            find_window(self.reads, self.tree)
            self._merged |= {WINDOW_START, WINDOW_END}
        if len(self.streams) > 1:
            self.reads = [keep_for_window(read, self.tree) for read in self.reads]

    def _scan(self, home: int) -> Node:
        """The readings of a stream; over HOP, each in all windows that it is in."""
        read, scan = self.reads[home], Scan(self._sources[home])
        if len(self.streams) == 1 or not is_hop(read):
            return scan
        assert isinstance(read.window, Window)
        return InWindows(scan, str(read.time), read.window)

    def _check_reads(self) -> None:
        names = [read.name.lower() for read in self.reads]
        twice = [name for name in names if names.count(name) > 1]
        if twice:
            raise SqlError(f"two relations are called {twice[0]!r}; name one otherwise with AS", location_of(self.tree))
        if len(names) > _MOST_STREAMS:
            raise SqlError(f"a join takes up to {_MOST_STREAMS} relations, got {len(names)}", location_of(self.tree))
        if not self.streams:
            raise SqlError("a join needs a stream; these are all tables without a window", location_of(self.tree))
        for stream in self.streams if len(self.streams) > 1 else []:
            if self.reads[stream].time is None:
                message = f"stream {self.reads[stream].source.name!r} needs a time to be joined: declare WATERMARK FOR"
                raise SqlError(message, location_of(self.tree))

    def _check_tables(self, items: dict[int, JoinItem]) -> None:
        """Refuse tables that are looked up beside a stream that may have no row, and would drop its rows."""
        for table, tie in self._ties.items():
            if tie.home in self.nullable and not (table in items and items[table].empties(table)):
                name, stream = self.reads[table].name, self.reads[tie.home].name
                message = f"table {name!r} is looked up beside {stream!r}, which may have no row"
                raise SqlError(f"{message}: write LEFT JOIN {name}", location_of(self.tree))
