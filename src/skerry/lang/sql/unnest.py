"""UNNEST: a row per element of a list, said in SELECT or in FROM.

SELECT sensor, unnest(tags) AS tag FROM s                  SELECT sensor, tags AS tag FROM s, then a row per element
SELECT ... FROM s CROSS JOIN UNNEST(tags) AS t (tag)       SELECT ... FROM (SELECT *, unnest(tags) AS tag FROM s)
"""

from collections.abc import Sequence

import pyarrow as pa
from sqlglot import exp

from skerry.errors import SqlError
from skerry.lang.sql.clauses import list_items
from skerry.lang.sql.create_source import identifier
from skerry.lang.sql.from_clause import stream
from skerry.lang.sql.relations import Bind
from skerry.lang.sql.scalar import Scope, scalar
from skerry.lang.sql.statements import location_of
from skerry.lang.sql.streams import Streams
from skerry.model.expression import Expression
from skerry.model.types import sql_name
from skerry.plan.node import Node
from skerry.plan.project import Project
from skerry.plan.unnest import Unnest
from skerry.plan.view import ViewPlan

__all__ = ["has_unnest", "unnest_in_from", "unnest_in_select"]

_ELEMENT = "unnest"
_BESIDE = ("distinct", "order", "limit", "qualify")


def has_unnest(tree: exp.Select) -> bool:
    """Whether the SELECT list asks for a row per element."""
    return any(_find_calls(part) for part in tree.selects)


def unnest_in_select(tree: exp.Select, streams: Streams, bind: Bind, names: Sequence[str]) -> Node:
    """Bind a SELECT whose list has an UNNEST: the list is computed first, and taken apart then.

    ``names`` are those of the columns.
    """
    calls = [(position, call) for position, part in enumerate(tree.selects) for call in _find_calls(part)]
    if len(calls) > 1:
        raise SqlError("a SELECT has one UNNEST; take the others apart in FROM (SELECT ...)", location_of(tree))
    [(position, call)] = calls
    beside = next((name for name in _BESIDE if tree.args.get(name)), None)
    if beside:
        message = (
            f"{beside.upper()} beside UNNEST is written around: SELECT ... FROM (SELECT unnest(...) AS x ...) AS y"
        )
        raise SqlError(message, location_of(call))
    part = tree.selects[position].unalias()
    outside = [column for column in part.find_all(exp.Column) if not _is_within(column, call)]
    if outside:
        message = "what is computed from an element and other columns stands around: FROM (SELECT unnest(...) AS x ...)"
        raise SqlError(message, location_of(call))
    parts = [*tree.selects]
    parts[position] = exp.alias_(_list_of(call).copy(), _ELEMENT, quoted=True)
    inner = tree.copy()
    inner.set("expressions", [_name(each.copy(), number) for number, each in enumerate(parts)])
    node = bind(inner, streams)
    listed = node.schema.names.index(_ELEMENT) if _ELEMENT in node.schema.names else position
    element = node.schema.names[listed]
    made = _take_apart(node, element, call)
    value = part.transform(lambda each: exp.column(element, quoted=True) if each == call else each)
    scope = Scope("subquery", made.schema)
    columns = []
    for number, field in enumerate(made.schema):
        bound = scalar(value, scope) if number == listed else Expression.of(field.name, field.type)
        is_star = len(names) != len(made.schema)
        columns.append((field.name if is_star and number != listed else names[min(number, len(names) - 1)], bound))
    return Project(made, tuple(columns))


def unnest_in_from(tree: exp.Select, streams: Streams, bind: Bind) -> exp.Select:
    """A SELECT without UNNEST in FROM: the relation whose list it is has the elements as a column."""
    if not any(_read_item(join) for join in tree.args.get("joins") or []):
        return tree
    tree = tree.copy()
    for join in list(tree.args["joins"]):
        found = _read_item(join)
        if found is not None:
            tree.args["joins"].remove(join)
            _add_elements(tree, join, found, streams, bind)
    return tree


def _add_elements(tree: exp.Select, join: exp.Join, call: exp.Expr, streams: Streams, bind: Bind) -> None:
    lists = _list_of(call)
    table = _find_owner(tree, lists, streams)
    item = table.this.expressions[0] if isinstance(table.this, exp.Func) else table
    source = stream(item, streams)
    alias = join.this.args.get("alias")
    names = [identifier(column) for column in alias.columns] if alias else []
    name = names[0] if names else identifier(alias.this) if alias and alias.this else _ELEMENT
    offset = call.args.get("offset") if isinstance(call, exp.Unnest) else None
    number = identifier(offset) if isinstance(offset, exp.Identifier) else "ordinality" if offset else None
    taken = [each for each in (name, number) if each and each in source.schema.names]
    if taken:
        message = f"{source.name!r} has a column {taken[0]!r}; give the elements another name: UNNEST(...) AS t (x)"
        raise SqlError(message, location_of(call))
    side = str(join.args.get("side") or "").upper()
    condition = join.args.get("on")
    if side not in ("", "LEFT") or (
        condition is not None and not (isinstance(condition, exp.Boolean) and condition.this)
    ):
        raise SqlError("UNNEST is joined with CROSS JOIN, or with LEFT JOIN ... ON TRUE", location_of(call))
    bare = lists.transform(lambda node: exp.column(node.this.copy()) if isinstance(node, exp.Column) else node)
    inner = exp.select("*").from_(exp.Table(this=item.this.copy()))
    inner.append("expressions", exp.alias_(bare, name, quoted=True))
    node = _take_apart(bind(inner, streams), name, call, number, keeps_empty=side == "LEFT")
    hidden = streams.make_name(source.name)
    streams.add(ViewPlan(hidden, node))
    outer = identifier(table.args["alias"].this) if table.args.get("alias") else identifier(item)
    table.set("alias", exp.TableAlias(this=exp.to_identifier(outer, quoted=True)))
    item.set("this", exp.to_identifier(hidden, quoted=True))
    if alias and alias.this:
        _rename(tree, identifier(alias.this), outer, {name, number or name})


def _rename(tree: exp.Select, old: str, new: str, names: set[str]) -> None:
    """Let columns behind the name of the elements be those of the relation."""
    for column in tree.find_all(exp.Column):
        if (
            column.table.lower() == old.lower()
            and isinstance(column.this, exp.Identifier)
            and identifier(column) in names
        ):
            column.set("table", exp.to_identifier(new, quoted=True))


def _find_owner(tree: exp.Select, lists: exp.Expr, streams: Streams) -> exp.Table:
    """The relation in FROM whose columns a list is computed from."""
    tables = [holder.this for holder in list_items(tree) if isinstance(holder.this, exp.Table)]
    column = lists.find(exp.Column)
    if len(tables) == 1:
        return tables[0]
    for table in tables:
        item = table.this.expressions[0] if isinstance(table.this, exp.Func) else table
        names = stream(item, streams).schema.names
        if column is not None and (
            column.table.lower() == table.alias_or_name.lower() if column.table else identifier(column) in names
        ):
            return table
    raise SqlError("UNNEST takes a list of a relation before it in FROM", location_of(lists))


def _take_apart(
    node: Node, column: str, call: exp.Expr, number: str | None = None, *, keeps_empty: bool = False
) -> Unnest:
    kind = node.schema.field(column).type
    if not pa.types.is_list(kind):
        raise SqlError(f"UNNEST takes a list; this is {sql_name(kind)}", location_of(call))
    return Unnest(node, column, number, keeps_empty)


def _find_calls(part: exp.Expr) -> list[exp.Expr]:
    return [node for node in part.find_all(exp.Unnest, exp.Explode, exp.Anonymous) if _is_unnest(node)]


def _is_unnest(node: exp.Expr) -> bool:
    is_call = (
        isinstance(node, exp.Anonymous) and node.name.upper() in ("UNNEST", "EXPLODE") and len(node.expressions) == 1
    )
    return is_call or isinstance(node, exp.Unnest | exp.Explode)


def _list_of(call: exp.Expr) -> exp.Expr:
    found: exp.Expr = call.expressions[0] if call.expressions else call.this
    return found


def _read_item(join: exp.Join) -> exp.Expr | None:
    """The UNNEST that a JOIN joins, if it does."""
    item = join.this.this if isinstance(join.this, exp.Lateral | exp.Table) else join.this
    return item if isinstance(item, exp.Expr) and _is_unnest(item) else None


def _is_within(node: exp.Expr, outer: exp.Expr) -> bool:
    above: exp.Expr | None = node
    while above is not None and above is not outer:
        above = above.parent
    return above is outer


def _name(part: exp.Expr, number: int) -> exp.Expr:
    """A part of SELECT under a name of its own, unless it has one."""
    is_named = isinstance(part, exp.Alias | exp.Column | exp.Star)
    return part if is_named else exp.alias_(part, f"#{number}", quoted=True)
