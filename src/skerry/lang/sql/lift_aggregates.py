"""Aggregates over joins whose rows may come after the window that the join could lay, or that lay none.

    FROM a JOIN b ON a.k = b.k AND b.ts BETWEEN a.ts AND a.ts + span GROUP BY date_trunc('minute', a.ts)
    FROM a JOIN b ON a.k = b.k AND b.ts BETWEEN a.ts - span AND a.ts GROUP BY a.ts
    FROM TUMBLE(a, ts, size) AS a JOIN b ON a.k = b.k AND b.ts < a.ts + span GROUP BY window_start

A join that gathers its rows by a window keeps to that window: a partner has to come before it ends. Where times in ON
say that a partner may come later, and where GROUP BY alone says what the window is, the join is a view without a name
instead, and the aggregate reads it: it waits for what may come late.
"""

from collections.abc import Collection, Iterator

from sqlglot import exp

from skerry.catalog import Source
from skerry.lang.sql.clauses import conjuncts, list_items
from skerry.lang.sql.create_source import identifier
from skerry.lang.sql.group_windows import find_piece
from skerry.lang.sql.streams import Streams
from skerry.lang.sql.time_bounds import bounds_of
from skerry.model.window import WINDOW_END, WINDOW_START
from skerry.plan.view import VIEW_CONNECTOR

__all__ = ["lift_aggregate"]

_JOINED = "#joined"
_PARTS = ("expressions", "from_", "from", "joins", "where", "group", "having")
_ENDS = (WINDOW_START, WINDOW_END)


def lift_aggregate(tree: exp.Select, streams: Streams) -> exp.Select | None:
    """An aggregate over a join as one over a subquery that joins; None if the join can gather its rows itself."""
    if any(part and name not in _PARTS for name, part in tree.args.items()) or any(
        part.is_star for part in tree.selects
    ):
        return None
    items = [holder.this for holder in list_items(tree)]
    if not all(isinstance(item, exp.Table) for item in items):
        return None
    relations = _Relations(items, streams, _list_nullable(tree))
    window = relations.find_window()
    if window is None and not relations.has_windows and any(map(relations.is_piece, _list_groups(tree, relations))):
        return _lift(tree, relations, None)
    if window is not None and relations.outlasts(tree, window):
        return _lift(tree, relations, window)
    return None


class _Relations:
    """The items of FROM: streams, tables, and windows over streams."""

    def __init__(self, items: list[exp.Table], streams: Streams, nullable: set[str]) -> None:
        self.items, self._nullable = items, nullable
        self._times: dict[str, list[str]] = {}
        """The event times of each stream."""
        self.columns: set[str] = set()
        for item in items:
            named = item.this.expressions[0] if isinstance(item.this, exp.Func) and item.this.expressions else item
            source = streams.find(identifier(named)) if isinstance(named, exp.Column | exp.Table) else None
            if source is not None:
                self.columns |= set(source.schema.names)
                if not source.is_table:
                    self._times[item.alias_or_name.lower()] = _list_times(source, streams)

    @property
    def has_windows(self) -> bool:
        """Whether one of them has a window, of whatever kind."""
        return any(isinstance(item.this, exp.Func) for item in self.items)

    def find_window(self) -> exp.Table | None:
        """The stream with a window, if it is the only one, and others have none."""
        windows = [item for item in self.items if isinstance(item.this, exp.Func)]
        is_aligned = len(windows) == 1 and windows[0].this.name.upper() in ("TUMBLE", "HOP")
        return windows[0] if is_aligned and len(self._times) > 1 else None

    def find_time(self, column: exp.Column) -> int | None:
        """The position of the stream whose event time a column is."""
        names = list(self._times)
        of = [column.table.lower()] if column.table else names
        found = [each for each in of if identifier(column) in self._times.get(each, ())]
        return names.index(found[0]) if len(found) == 1 else None

    def is_piece(self, part: exp.Expr) -> bool:
        """Whether a part of GROUP BY is a time of a stream, or a piece of it."""
        column = part.find(exp.Column)
        at = None if column is None else self.find_time(column)
        is_sure = at is not None and list(self._times)[at] not in self._nullable
        return is_sure and (isinstance(part.unnest(), exp.Column) or find_piece(part) is not None)

    def outlasts(self, tree: exp.Select, window: exp.Table) -> bool:
        """Whether a partner may come after the reading that has the window."""
        where, own = tree.args.get("where"), list(self._times).index(window.alias_or_name.lower())
        asked = [join.args.get("on") for join in tree.args["joins"]] + [where.this if where else None]
        parts = [part for each in asked for part in conjuncts(each)]
        return any(one == own and most > 0 for part in parts for one, _, most in bounds_of(part, self.find_time))


def _list_nullable(tree: exp.Select) -> set[str]:
    """The relations that may have no row in a combination: their times say no window."""
    found, before = set[str](), set[str]()
    for holder in list_items(tree):
        name, side = holder.this.alias_or_name.lower(), str(holder.args.get("side") or "").upper()
        found |= {name} if side in ("LEFT", "FULL") else set()
        found |= before if side in ("RIGHT", "FULL") else set()
        before.add(name)
    return found


def _list_times(source: Source, streams: Streams) -> list[str]:
    if source.connector == VIEW_CONNECTOR:
        return streams.plan(source.name).root.time_columns
    return [source.event_time] if source.event_time else []


def _list_groups(tree: exp.Select, relations: _Relations) -> Iterator[exp.Expr]:
    group = tree.args.get("group")
    for part in group.expressions if group else []:
        yield _resolve(part, tree, relations)


def _resolve(part: exp.Expr, tree: exp.Select, relations: _Relations) -> exp.Expr:
    """What a part of GROUP BY or HAVING stands for: a position, a name of SELECT, or itself."""
    if isinstance(part, exp.Literal) and part.name.isdigit() and 1 <= int(part.name) <= len(tree.selects):
        return tree.selects[int(part.name) - 1].unalias().copy()
    aliases = {identifier(each.args["alias"]): each.this for each in tree.selects if isinstance(each, exp.Alias)}

    def write(node: exp.Expr) -> exp.Expr:
        is_name = isinstance(node, exp.Column) and not node.table and identifier(node) not in relations.columns
        return aliases[identifier(node)].copy() if is_name and identifier(node) in aliases else node

    return part.copy().transform(write)


def _lift(tree: exp.Select, relations: _Relations, window: exp.Table | None) -> exp.Select:
    group, having = tree.args.get("group"), tree.args.get("having")
    outer = exp.Select(expressions=[_name(part) for part in tree.selects])
    if group:
        outer.set("group", exp.Group(expressions=[*_list_groups(tree, relations)]))
    if having:
        outer.set("having", exp.Having(this=_resolve(having.this, tree, relations)))
    inner = exp.Select(**{name: tree.args[name].copy() for name in ("from_", "from", "where") if tree.args.get(name)})
    inner.set("joins", [join.copy() for join in tree.args["joins"]])
    columns: dict[str, exp.Expr] = {}
    ends = [end for end in _ENDS if window is not None or end not in relations.columns]
    lifted = outer.transform(lambda node: _lift_column(node, columns, ends))
    assert isinstance(lifted, exp.Select)
    joined = exp.to_identifier(_JOINED, quoted=True)
    if window is None:
        laid = exp.Table(this=joined)
    else:
        time = window.this.expressions[1].copy()
        time.set("table", exp.to_identifier(window.alias_or_name, quoted=True))
        moment = _lift_column(time, columns, ())
        call = exp.Anonymous(
            this=window.this.name, expressions=[exp.Column(this=joined), moment, *window.this.expressions[2:]]
        )
        call.meta.update(next((node.meta for node in window.walk() if "line" in node.meta), {}))
        laid = exp.Table(this=call, alias=exp.TableAlias(this=joined.copy()))
        _strip(inner, window)
    inner.set("expressions", [exp.alias_(each, name, quoted=True) for name, each in columns.items()])
    lifted.set("from_", exp.From(this=laid))
    lifted.set("with_", exp.With(expressions=[exp.CTE(this=inner, alias=exp.TableAlias(this=joined.copy()))]))
    return lifted


def _name(part: exp.Expr) -> exp.Expr:
    """A part of SELECT under the name that it has without being moved."""
    is_column = isinstance(part, exp.Column)
    return exp.alias_(part.copy(), part.name, quoted=part.this.quoted) if is_column else part.copy()


def _lift_column(node: exp.Expr, columns: dict[str, exp.Expr], ends: Collection[str]) -> exp.Expr:
    """A column of the join under the name that it has above."""
    if not isinstance(node, exp.Column) or not isinstance(node.this, exp.Identifier):
        return node
    if node.name.lower() in ends:  # of the window that is laid above
        found = exp.column(node.name.lower())
    else:
        text = node.sql()
        name = next((name for name, each in columns.items() if each.sql() == text), f"c{len(columns)}")
        columns.setdefault(name, node.copy())
        found = exp.column(name, quoted=True)
    found.meta.update(node.meta)
    return found


def _strip(inner: exp.Select, window: exp.Table) -> None:
    """Let the join read the stream without its window."""
    for holder in list_items(inner):
        if holder.this == window:
            name = window.this.expressions[0].this.copy()
            alias = window.args.get("alias") or exp.TableAlias(this=name.copy())
            holder.set("this", exp.Table(this=name, alias=alias.copy()))
