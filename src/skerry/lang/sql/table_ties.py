"""Which stream each table is looked up beside, and by what."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from skerry.errors import SqlError
from skerry.lang.sql.asof import find_comparison, refuse_asof
from skerry.lang.sql.clauses import bind_all
from skerry.lang.sql.common_type import bring_to_one_type
from skerry.lang.sql.from_clause import From
from skerry.lang.sql.join_items import JoinItem, Kind
from skerry.lang.sql.join_scope import JoinScope
from skerry.lang.sql.scalar import scalar
from skerry.lang.sql.statements import location_of
from skerry.model.dialect import write_expression
from skerry.model.expression import Expression
from skerry.plan.asof_lookup import AsofLookup
from skerry.plan.left_lookup import LeftLookup
from skerry.plan.lookup import Lookup
from skerry.plan.node import Node

__all__ = ["TableTie", "is_lookup", "look_up", "tie_tables"]

_Ends = tuple[int, exp.Expr, exp.Expr]
"""The stream that an equality ties a table to, the stream's end of it, and the table's."""


@dataclass
class TableTie:
    """One table: the stream it is looked up beside, what must be equal, and what else ON asks, where it is LEFT."""

    home: int
    kind: Kind
    equal: list[tuple[exp.Expr, exp.Expr]] = field(default_factory=list)
    asked: list[exp.Expr] = field(default_factory=list)
    times: tuple[exp.Expr, exp.Expr] | None = None
    """Of an ASOF JOIN, the stream's time and the table's."""
    strictly: bool = False


def is_lookup(read: From) -> bool:
    """Whether a relation is a table as it is now, and not a stream."""
    return read.source.is_table and read.span_us is None and read.last_rows is None and read.window is None


def tie_tables(
    reads: Sequence[From], items: dict[int, JoinItem], conditions: list[exp.Expr], scope: JoinScope, tree: exp.Expr
) -> dict[int, TableTie]:
    """The tables by position, in the order in which they are looked up. What ties them is taken out of ``conditions``.

    A table belongs to the stream that an equality ties it to; without any, to the one that a condition compares it
    with; if nothing does, to the first.
    """
    waiting = [position for position, read in enumerate(reads) if is_lookup(read)]
    homes = {position: position for position in range(len(reads)) if position not in waiting}
    _check_kinds(reads, items, waiting, homes, tree)
    ties: dict[int, TableTie] = {}
    while waiting:
        found = {table: items[table].parts if _has_own(items, table) else conditions for table in waiting}
        table, home = _find_home(found, homes, scope, min(homes))
        waiting.remove(table)
        homes[table] = home
        ends = [(part, end) for part in found[table] if (end := _find_ends(table, part, homes, scope))]
        tied = [part for part, end in ends if end[0] == home]
        ties[table] = TableTie(home, Kind.INNER, [(mine, other) for _, (at, mine, other) in ends if at == home])
        left = [part for part in found[table] if not any(part is each for each in tied)]
        if _has_own(items, table):
            ties[table].kind, ties[table].asked = items[table].kind, left
            _find_times(ties[table], table, scope)
            _check_asked(left, reads[table].name, {position for position, at in homes.items() if at == home}, scope)
        else:
            conditions[:] = left
    return ties


def look_up(node: Node, read: From, tie: TableTie, scope: JoinScope, pairs: list[exp.Expr]) -> Node:
    """A stream with a table beside it. ``pairs`` is asked of a row and a row of the table."""
    keys = tuple(
        (left, right)
        for mine, other in tie.equal
        for left, right in [bring_to_one_type([mine, other], [scope, read.scope], mine)]
    )
    if tie.times:
        return _look_up_latest(node, read, tie, keys, scope)
    if tie.kind is not Kind.LEFT:
        return Lookup(node, read.source, read.name, keys, bind_all(pairs, scope))
    alone = [part for part in tie.asked if scope.owners_by_name(part) == {read.name}]
    others = [part for part in tie.asked if not any(part is each for each in alone)]
    return LeftLookup(
        node, read.source, read.name, keys, bind_all(others, scope), condition=bind_all(alone, read.scope)
    )


def _check_asked(parts: Sequence[exp.Expr], name: str, known: set[int], scope: JoinScope) -> None:
    """ON of a LEFT JOIN with a table is about it, and the stream that it is looked up beside."""
    for part in parts:
        if not scope.owners(part) <= known:
            message = f"ON of LEFT JOIN {name} compares {name} with one stream"
            raise SqlError(f"{message}; {write_expression(part)} is about another", location_of(part))


def _look_up_latest(
    node: Node, read: From, tie: TableTie, keys: tuple[tuple[Expression, Expression], ...], scope: JoinScope
) -> Node:
    """A stream with the latest row of a table."""
    assert tie.times is not None
    mine, other = (
        scalar(exp.cast(tree.copy(), "TIMESTAMP"), over)
        for tree, over in zip(tie.times, (scope, read.scope), strict=True)
    )
    kept = tie.kind is Kind.ASOF_LEFT
    return AsofLookup(node, read.source, read.name, keys, None, mine, other, kept, tie.strictly)


def _find_times(tie: TableTie, table: int, scope: JoinScope) -> None:
    """What an ASOF JOIN with a table compares beside keys: one time of each."""
    if not tie.kind.is_asof:
        return
    for part in tie.asked:
        ends = find_comparison(part)
        if tie.times or ends is None or scope.owners(ends[1]) != {table} or table in scope.owners(ends[0]):
            raise refuse_asof(part)
        tie.times, tie.strictly = ends, isinstance(part, exp.GT | exp.LT)
    if tie.times is None:
        raise SqlError("ASOF JOIN with a table compares a time of both: ON a.key = t.key AND a.ts >= t.since")


def _has_own(items: Mapping[int, JoinItem], table: int) -> bool:
    """Whether what ON says of a table decides what is found in it, and not which answers there are."""
    return table in items and items[table].kind is not Kind.INNER


def _check_kinds(
    reads: Sequence[From],
    items: dict[int, JoinItem],
    tables: Sequence[int],
    homes: Mapping[int, int],
    tree: exp.Expr,
) -> None:
    """Refuse tables whose rows would have to be given for want of a reading; turn ``t RIGHT JOIN stream`` around."""
    first = min(homes)
    if first and items[first].kind is Kind.RIGHT and len(tables) >= first == 1:
        items[first].kind = Kind.INNER
        items[0] = JoinItem(0, Kind.LEFT, items[first].parts)
        items[first].parts = []
    kept = [table for table in tables if table in items and items[table].kind in (Kind.RIGHT, Kind.FULL)]
    if first and items[first].kind is not Kind.INNER:
        kept.append(0)
    if kept:
        name = reads[kept[0]].name
        message = f"which rows of table {name!r} have no reading is never settled; name the stream first"
        raise SqlError(f"{message}: FROM stream LEFT JOIN {name}", location_of(tree))


def _find_home(
    found: Mapping[int, Sequence[exp.Expr]], homes: Mapping[int, int], scope: JoinScope, first: int
) -> tuple[int, int]:
    """The next table to be looked up, and its stream."""
    for table, parts in found.items():
        for part in parts:
            if ends := _find_ends(table, part, homes, scope):
                return table, ends[0]
    for table, parts in found.items():
        for part in parts:
            owners = scope.owners(part)
            others = {homes.get(position) for position in owners - {table}}
            if table in owners and others and None not in others:
                return table, min(home for home in others if home is not None)
    return next(iter(found)), first


def _find_ends(table: int, part: exp.Expr, homes: Mapping[int, int], scope: JoinScope) -> _Ends | None:
    """What an equality ties a table to, if it does."""
    if not isinstance(part, exp.EQ):
        return None
    for mine, other in ((part.left, part.right), (part.right, part.left)):
        others = {homes.get(position) for position in scope.owners(mine)}
        if scope.owners(other) == {table} and len(others) == 1 and None not in others:
            (home,) = others
            assert home is not None
            return home, mine, other
    return None
