"""A subquery of an expression: what it reads, what ties it to the row that asks, and what else it asks.

x IN (SELECT b.k FROM b WHERE b.place = a.place AND b.level > 3 AND b.ts < a.ts)
tie                   of its own      of both
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce

from sqlglot import exp

from skerry.errors import SqlError
from skerry.lang.sql.clauses import list_items
from skerry.lang.sql.from_clause import From, read_from
from skerry.lang.sql.joins import conjuncts
from skerry.lang.sql.relations import Bind, name_relations
from skerry.lang.sql.statements import location_of
from skerry.lang.sql.streams import Streams
from skerry.lang.sql.table_query import reads_tables_alone
from skerry.model.dialect import write_expression

__all__ = ["Subquery", "list_asking", "read_subquery"]


@dataclass(frozen=True)
class Subquery:
    """A query inside an expression, its WHERE without what names the row that asks."""

    tree: exp.Select
    streams: Streams
    """What it can name."""
    reads: tuple[From, ...]
    ties: tuple[tuple[exp.Expr, exp.Expr], ...]
    """What must be equal: of the row that asks, and of the subquery's."""
    of_both: tuple[exp.Expr, ...]
    """What else it asks of both; its own columns stand behind their relation."""
    location: exp.Expr

    @property
    def reads_tables(self) -> bool:
        """Whether it reads tables alone."""
        return reads_tables_alone(self.tree, self.streams)

    def has(self, column: exp.Column) -> bool:
        """Whether a column is one of its own."""
        return _owns(self.reads, column)


def list_asking(tree: exp.Expr) -> list[exp.Expr]:
    """The parts of an expression that ask a subquery, those inside subqueries not counted."""
    found = [node for node in tree.walk(prune=lambda node: _is_asking(node) or isinstance(node, exp.Query))]
    return [node for node in found if _is_asking(node)]


def _is_asking(tree: exp.Expr) -> bool:
    if isinstance(tree, exp.In):
        return tree.args.get("query") is not None
    if isinstance(tree, exp.Binary) and isinstance(tree.expression, exp.Any | exp.All):
        return isinstance(tree.expression.this.unnest(), exp.Query)
    return isinstance(tree, exp.Exists) or (isinstance(tree, exp.Subquery) and isinstance(tree.unnest(), exp.Query))


def read_subquery(tree: exp.Expr, streams: Streams, bind: Bind) -> Subquery:
    """Take a subquery apart."""
    query = tree.unnest()
    if not isinstance(query, exp.Select):
        inner = exp.Subquery(this=query.copy(), alias=exp.TableAlias(this=exp.to_identifier("subquery")))
        query = exp.Select(expressions=[exp.Star()], from_=exp.From(this=inner))
    named, inside = name_relations(query, streams, bind)
    assert isinstance(named, exp.Select)
    reads = tuple(read_from(holder.this, inside) for holder in list_items(named))
    _expand_star(named, reads)
    where = named.args.get("where")
    own: list[exp.Expr] = []
    ties: list[tuple[exp.Expr, exp.Expr]] = []
    of_both: list[exp.Expr] = []
    for part in conjuncts(where.this if where else None):
        sides = {_owns(reads, column) for column in part.find_all(exp.Column)}
        if False not in sides or part.find(exp.Query):
            own.append(part)
        elif True not in sides:
            message = f"{write_expression(part)} is about the reading outside; write it outside"
            raise SqlError(message, location_of(part) or location_of(tree))
        elif (tie := _find_tie(part, reads)) is not None:
            ties.append(tie)
        else:
            of_both.append(_qualify(part, reads))
    named.set("where", exp.Where(this=reduce(exp.and_, [part.copy() for part in own])) if own else None)
    return Subquery(named, inside, reads, tuple(ties), tuple(of_both), tree)


def _expand_star(tree: exp.Select, reads: tuple[From, ...]) -> None:
    """The columns by name, where * stands alone."""
    if len(tree.selects) == 1 and isinstance(tree.selects[0], exp.Star) and reads:
        names = [(name, read.name) for read in reads for name in read.source.schema.names]
        tree.set("expressions", [exp.column(name, table, quoted=True) for name, table in names])


def _find_tie(part: exp.Expr, reads: tuple[From, ...]) -> tuple[exp.Expr, exp.Expr] | None:
    if not isinstance(part, exp.EQ):
        return None
    for outer, inner in ((part.left, part.right), (part.right, part.left)):
        if _sides(outer, reads) == {False} and _sides(inner, reads) == {True}:
            return outer, inner
    return None


def _sides(tree: exp.Expr, reads: tuple[From, ...]) -> set[bool]:
    return {_owns(reads, column) for column in tree.find_all(exp.Column)}


def _owns(reads: tuple[From, ...], column: exp.Column) -> bool:
    """Whether a column is one of some relations'; they come before those outside."""
    if column.table:
        return column.table.lower() in [read.name.lower() for read in reads]
    return isinstance(column.this, exp.Identifier) and any(read.scope.has(column) for read in reads)


def _qualify(part: exp.Expr, reads: tuple[From, ...]) -> exp.Expr:
    """The same condition, columns of the subquery behind the name of their relation."""
    return part.copy().transform(
        lambda node: _put_behind(node, reads) if isinstance(node, exp.Column) and not node.table else node
    )


def _put_behind(column: exp.Column, reads: tuple[From, ...]) -> exp.Expr:
    owner: Iterator[From] = (read for read in reads if read.scope.has(column))
    name = next((read.name for read in owner), None)
    if name is not None:
        column.set("table", exp.to_identifier(name, quoted=True))
    return column
