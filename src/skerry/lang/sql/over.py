"""OVER, QUALIFY, ORDER BY and LIMIT: what is computed from rows when those around them are known.

The SELECT is cut in two. Below is a SELECT without these clauses, bound as any other. Above it one node takes the rows
in order of a time that the plan knows the lag of, so that it knows when all rows around one have come:

    SELECT k, speed - LAG(speed) OVER (PARTITION BY k ORDER BY ts) AS change FROM s QUALIFY change > 10

    Project k, change ─ Select change > 10 ─ Over LAG(speed) ─ (SELECT k, speed, ts FROM s)
"""

from collections.abc import Callable, Mapping, Sequence

from sqlglot import exp

from skerry.errors import OptionError, SqlError, UnknownColumn
from skerry.lang.sql.create_source import identifier
from skerry.lang.sql.order_by import Limit, push_window, read_order_by
from skerry.lang.sql.over_calls import OrderPart, PlannedCall, name_window, read_order
from skerry.lang.sql.over_clauses import PlannedWindow, make_clauses
from skerry.lang.sql.overload import OVERLOAD_OPTIONS
from skerry.lang.sql.scalar import Scope, condition, scalar
from skerry.lang.sql.split_select import Below, has_windows, is_star
from skerry.lang.sql.statements import location_of
from skerry.lang.sql.streams import Streams
from skerry.lang.sql.window_reads import WindowReads
from skerry.model.dialect import write_expression
from skerry.model.expression import Expression
from skerry.plan.node import Node
from skerry.plan.over import OrderKey, Over
from skerry.plan.project import Project
from skerry.plan.rewrites.carry_changes import carry_changes
from skerry.plan.select import Select

__all__ = ["bind_over", "has_over"]

Bind = Callable[[exp.Select, Streams, Mapping[str, str]], Node]
"""How a SELECT without these clauses is bound."""
Namer = Callable[[exp.Expr, int], str]
"""How a column of SELECT is called, by its position."""
_CLAUSES = ("qualify", "windows", "order", "limit", "offset")
_DEEPEST = 10
"""How often a name of SELECT may stand for an expression with another one."""


def has_over(tree: exp.Select) -> bool:
    """Whether a SELECT looks at the rows around a row, or puts them in order."""
    return any(tree.args.get(clause) for clause in _CLAUSES) or any(has_windows(part) for part in tree.selects)


def bind_over(tree: exp.Select, streams: Streams, options: Mapping[str, str], bind: Bind, name: Namer) -> Node:
    """Bind a SELECT with OVER, QUALIFY, ORDER BY or LIMIT."""
    if tree.args.get("distinct") and any(has_windows(part) for part in tree.selects):
        message = "DISTINCT beside OVER is not available; write SELECT DISTINCT ... FROM (SELECT ... OVER ...)"
        raise SqlError(message, location_of(tree))
    if options.get("emit") == "early":
        raise OptionError("a view with OVER, ORDER BY or LIMIT gives a row once: it has no option emit = 'early'")
    given = [option for option in OVERLOAD_OPTIONS if option in options]
    if given:
        raise OptionError(f"a view with OVER, ORDER BY or LIMIT needs every row in time: it has no option {given[0]!r}")
    aliases = frozenset[str]()
    while True:
        try:
            return _Binder(tree, streams, aliases, name).bind(lambda inner: bind(inner, streams, options))
        except UnknownColumn as error:  # a column goes before a name that SELECT gives, as in DuckDB
            found = str(error.args[0]).lower()
            if found in aliases or found not in _find_aliases(tree):
                raise
            aliases |= {found}


def _find_aliases(tree: exp.Select) -> dict[str, exp.Expr]:
    """What SELECT gives names to."""
    named = [part for part in tree.selects if isinstance(part, exp.Alias)]
    return {identifier(part.args["alias"]): part.this for part in named}


class _Binder:
    """Binds one such SELECT. ``aliases`` are names of SELECT that no column has."""

    def __init__(self, tree: exp.Select, streams: Streams, aliases: frozenset[str], name: Namer) -> None:
        self._tree, self._streams, self._name = tree, streams, name
        self._aliases = {alias: part for alias, part in _find_aliases(tree).items() if alias in aliases}
        self._named = {identifier(each.this): each for each in tree.args.get("windows") or []}
        self._below = Below(tree, self._read_window)
        self._reads = WindowReads(tree, streams, self._below)
        self._calls: dict[str, tuple[str, PlannedCall, PlannedWindow]] = {}
        """By the text of a call: the column of its answers, the call and its window."""

    def bind(self, bind: Callable[[exp.Select], Node]) -> Node:
        """The plan."""
        parts = [self._lift_part(*part) for part in enumerate(self._tree.selects, 1)]
        qualify = self._lift_qualify()
        order = self._read_order_by()
        limit = Limit.read(self._tree)
        window = push_window(self._tree, self._reads, order, limit) if order or limit.is_asked else None
        below = carry_changes(bind(self._below.select()), self._streams.plan)
        node = self._make_over(below, window, order, limit, is_last=qualify is None)
        if qualify is not None:
            node = Select(node, condition(qualify, Scope("", node.schema)), write_expression(qualify))
            if limit.is_asked and window is not None:
                node = self._put_in_order(node, window, order, limit)
        return Project(node, self._list_columns(parts, node, below.schema.names))

    def _make_over(
        self,
        below: Node,
        window: PlannedWindow | None,
        order: Sequence[OrderKey],
        limit: Limit,
        *,
        is_last: bool,
    ) -> Node:
        """The functions, and the order where nothing is left out afterwards."""
        planned = [(planned, call.make(column, below.schema)) for column, call, planned in self._calls.values()]
        ordered = window if window and (is_last or not limit.is_asked) else None
        if not planned and not ordered:
            return below
        time, clauses = make_clauses(below, planned, ordered, self._reads, self._tree)
        node = Over(below, time.column, clauses, time.window)
        if ordered:
            return node.replace_fields(order=tuple(order), limit=limit.count, offset=limit.skipped)
        return node

    def _put_in_order(self, node: Node, window: PlannedWindow, order: Sequence[OrderKey], limit: Limit) -> Node:
        """The order above a condition on what functions gave: what it leaves out is not counted."""
        time, clauses = make_clauses(node, [], window, self._reads, self._tree)
        return Over(node, time.column, clauses, time.window, tuple(order), limit.count, limit.skipped)

    def _lift_part(self, position: int, part: exp.Expr) -> tuple[str, exp.Expr] | int:
        """A column above by its name, or the number of a star."""
        if is_star(part):
            return self._below.push_star(part)
        named = part if not isinstance(part, exp.Window) else part.this
        while isinstance(named, exp.Filter | exp.IgnoreNulls | exp.RespectNulls):
            named = named.this
        return self._name(named, position), self._lift(part.unalias())

    def _lift_qualify(self) -> exp.Expr | None:
        qualify = self._tree.args.get("qualify")
        if not qualify:
            return None
        lifted, count = self._lift(qualify.this), len(self._calls)
        if not count:
            raise SqlError(
                "QUALIFY asks for what OVER gives; a condition on rows is written WHERE", location_of(qualify)
            )
        return lifted

    def _lift(self, tree: exp.Expr) -> exp.Expr:
        for _ in range(_DEEPEST if self._aliases else 0):
            if not any(self._is_alias(column) for column in tree.find_all(exp.Column)):
                break
            tree = tree.copy().transform(lambda node: self._replace_alias(node) if self._is_alias(node) else node)
        return self._below.lift(tree)

    def _is_alias(self, node: exp.Expr) -> bool:
        is_bare = isinstance(node, exp.Column) and isinstance(node.this, exp.Identifier) and not node.table
        return is_bare and identifier(node) in self._aliases

    def _replace_alias(self, node: exp.Expr) -> exp.Expr:
        return exp.paren(self._aliases[identifier(node)].copy())

    def _read_order_by(self) -> list[OrderKey]:
        """What ORDER BY goes by, as columns below or answers of functions."""
        found = []
        for part in read_order_by(self._tree):
            lifted = self._lift(part.tree).unnest()
            if not isinstance(lifted, exp.Column) and lifted.find(exp.Column) is not None:
                message = "ORDER BY takes what OVER gives by itself, or an expression without OVER"
                raise SqlError(f"{message}; let another view put it in order", location_of(part.tree))
            found.append(self._make_key(lifted.name if isinstance(lifted, exp.Column) else None, part))
        return [key for key in found if key]

    def _make_key(self, name: str | None, part: OrderPart) -> OrderKey | None:
        return OrderKey(name, part.descending, part.nulls_first) if name else None

    def _read_window(self, written: exp.Expr) -> exp.Expr:
        """The column of a call's answers."""
        assert isinstance(written, exp.Window)
        window = name_window(written, self._named)
        text = write_expression(window)
        if text not in self._calls:
            partition = [self._push_key(part) for part in window.args.get("partition_by") or []]
            order = [self._make_key(self._push_key(part.tree), part) for part in read_order(window.args.get("order"))]
            # What is the same for all rows neither parts nor orders them.
            names = tuple(dict.fromkeys(name for name in partition if name))
            planned = PlannedWindow(names, tuple(key for key in order if key), written)
            self._calls[text] = f"_call{len(self._calls)}", PlannedCall(window, self._below), planned
        column = exp.column(self._calls[text][0], quoted=True)
        column.meta.update(next((part.meta for part in written.walk() if "line" in part.meta), {}))
        return column

    def _push_key(self, part: exp.Expr) -> str | None:
        """The column below that a partition or an order goes by; None for a constant."""
        if has_windows(part):
            raise SqlError("an OVER clause cannot hold another; let one view read the other", location_of(part))
        if part.find(exp.Column, exp.AggFunc) is None:
            return None
        name = self._below.push(part).name
        self._reads.note_key(part, name)
        return name

    def _list_columns(
        self, parts: Sequence[tuple[str, exp.Expr] | int], node: Node, names: list[str]
    ) -> tuple[tuple[str, Expression], ...]:
        scope, found = Scope("", node.schema), list[tuple[str, Expression]]()
        for part in parts:
            if isinstance(part, int):
                columns = self._below.star_columns(part, names)
                found += [(column, Expression.of(column, node.schema.field(column).type)) for column in columns]
            else:
                found.append((part[0], scalar(part[1], scope)))
        return tuple(found)
