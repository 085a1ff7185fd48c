"""Relations inside relations: WITH, and subqueries in FROM.

Each is a view that no catalogue knows: it is bound like one, and read under its name where that is in scope. In the
plan it is what it means, so a selection over a selection runs beside the source, as one without a subquery does.
"""

from collections.abc import Callable, Sequence

import pyarrow as pa
from sqlglot import exp

from skerry.errors import SqlError
from skerry.lang.sql.changes import list_visible
from skerry.lang.sql.clauses import list_items
from skerry.lang.sql.create_source import identifier
from skerry.lang.sql.passed_windows import find_passed_window
from skerry.lang.sql.statements import location_of
from skerry.lang.sql.streams import Streams
from skerry.lang.sql.table_query import find_table, reads_tables_alone
from skerry.model.changes import OP
from skerry.model.expression import Expression
from skerry.plan.node import Node
from skerry.plan.project import Project
from skerry.plan.view import ViewPlan

__all__ = ["Bind", "name_relations"]

Bind = Callable[[exp.Expr, Streams], Node]
"""Binds a query."""


def name_relations(tree: exp.Query, streams: Streams, bind: Bind) -> tuple[exp.Query, Streams]:
    """The same query over streams by name alone, and the streams that it may name."""
    tree, inner = tree.copy(), streams.nest()
    clause = tree.args.pop("with_", None) or tree.args.pop("with", None)
    if clause is not None:
        if clause.args.get("recursive"):
            message = (
                "WITH RECURSIVE is not available; recursion is written as rules: WITH (rules='file.dl', output='p')"
            )
            raise SqlError(message, location_of(clause))
        for each in clause.expressions:
            _add(each, identifier(each.args["alias"].this), inner, bind)
    if isinstance(tree, exp.Select):
        for holder in list_items(tree):
            _name_item(holder, inner, bind)
    return tree, inner


def _name_item(holder: exp.Expr, streams: Streams, bind: Bind) -> None:
    """Put a name in place of a subquery, where FROM holds one: by itself, or under a window."""
    item = holder.this
    if isinstance(item, exp.Values) or (isinstance(item, exp.Subquery) and isinstance(item.this, exp.Query)):
        if isinstance(item, exp.Subquery):
            _check_bare(item)
        alias = item.args.get("alias") or exp.TableAlias(this=exp.to_identifier("subquery"))
        name = _add_hidden(item, identifier(alias.this), streams, bind)
        table = exp.Table(this=exp.to_identifier(name, quoted=True), alias=exp.TableAlias(this=alias.this.copy()))
        _put_in_place(item, table)
    elif _is_series(item):
        query = exp.Select(expressions=[exp.Anonymous(this="unnest", expressions=[item.this.copy()])])
        _put_in_place(item, exp.Subquery(this=query, alias=item.args.get("alias")))
        _name_item(holder, streams, bind)
    elif isinstance(item, exp.Table) and isinstance(item.this, exp.Func) and item.this.expressions:
        inner = item.this.expressions[0]
        if isinstance(inner, exp.Subquery) and isinstance(inner.this, exp.Query):
            if not item.args.get("alias"):
                item.set("alias", exp.TableAlias(this=exp.to_identifier("subquery")))
            name = _add_hidden(inner, "subquery", streams, bind)
            _put_in_place(inner, exp.column(name, quoted=True))


def _is_series(item: exp.Expr) -> bool:
    """Whether FROM names a function that gives rows of numbers or times."""
    call = item.this if isinstance(item, exp.Table) else None
    return isinstance(call, exp.Anonymous) and call.name.lower() in ("generate_series", "range")


def _check_bare(item: exp.Subquery) -> None:
    extra = [name for name, part in item.args.items() if part and name not in ("this", "alias")]
    if extra:
        message = (
            f"{extra[0].rstrip('_').upper()} cannot stand beside a subquery; write it around: FROM (SELECT ...) AS x"
        )
        raise SqlError(message, location_of(item))


def _add_hidden(item: exp.Expr, alias: str, streams: Streams, bind: Bind) -> str:
    """Let a subquery be read by a name that nobody can write: its alias names it in this query's columns alone."""
    name = streams.make_name(alias)
    _add(item, name, streams, bind)
    return name


def _add(item: exp.Expr, name: str, streams: Streams, bind: Bind) -> None:
    """Let a relation be read by a name: as a table if it reads tables alone, else as a stream."""
    columns = item.args["alias"].columns if item.args.get("alias") else []
    query = item if isinstance(item, exp.Values) else item.this
    known = streams.nest()  # what the name meant before

    def plan() -> ViewPlan:
        node = bind(query, known)
        return ViewPlan(name, _rename(node, columns) if columns else node)

    if reads_tables_alone(query, streams):
        streams.add_table(name, find_table(_name_columns(query, columns), streams), plan)
    else:
        streams.add(plan())
        passed = None if columns else find_passed_window(query, known)
        if passed:
            streams.note_window(name, passed)


def _name_columns(query: exp.Expr, names: Sequence[exp.Expr]) -> exp.Expr:
    """The same query, its columns under other names."""
    if isinstance(query, exp.Values):
        inner: exp.Expr = query.copy()
        inner.set("alias", exp.TableAlias(this=exp.to_identifier("given"), columns=[name.copy() for name in names]))
    elif names:
        alias = exp.TableAlias(this=exp.to_identifier("given"), columns=[name.copy() for name in names])
        inner = exp.Subquery(this=query.copy(), alias=alias)
    else:
        return query
    return exp.Select(expressions=[exp.Star()], from_=exp.From(this=inner))


def _rename(node: Node, names: Sequence[exp.Expr]) -> Node:
    """The same rows, columns under other names: all of them, or the first."""
    fields = list_visible(node)
    if len(names) > len(fields):
        raise SqlError(f"{len(names)} names for {len(fields)} columns", location_of(names[0]))
    outer = [identifier(name) for name in names] + [field.name for field in fields[len(names) :]]
    pairs = zip(outer, fields, strict=True)
    kept = ((OP, Expression.of(OP, pa.string())),) if node.is_changing else ()
    return Project(node, (*kept, *((name, Expression.of(field.name, field.type)) for name, field in pairs)))


def _put_in_place(old: exp.Expr, new: exp.Expr) -> None:
    """Replace a part of a tree; errors about the new one are located where the old one stood."""
    known = next((part.meta for part in old.walk() if "line" in part.meta), {})
    named = new.this if isinstance(new, exp.Table) else new
    named.meta.update(known)
    old.replace(new)
