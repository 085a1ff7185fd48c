"""UNION ALL: the rows of several queries, columns by position, in types that hold the values of all."""

from collections.abc import Callable, Sequence

import pyarrow as pa
from sqlglot import exp

from skerry.errors import SqlError
from skerry.lang.sql.carried_types import name_carried
from skerry.lang.sql.changes import list_visible
from skerry.lang.sql.scalar import Scope, scalar
from skerry.lang.sql.statements import location_of
from skerry.model.batch import empty
from skerry.model.changes import OP
from skerry.model.dialect import parse_expression
from skerry.model.duckdb_session import register_tables
from skerry.model.expression import Expression
from skerry.model.types import sql_name
from skerry.plan.node import Node
from skerry.plan.project import Project
from skerry.plan.rewrites.carry_changes import as_changes
from skerry.plan.union import Union

__all__ = ["union_node"]

_ONCE = "UNION gives each row once, for which all rows would have to be kept; write UNION ALL"
_KNOWN = ("this", "expression", "distinct")


def union_node(tree: exp.Union, bind: Callable[[exp.Expr], Node]) -> Node:
    """All rows of all branches, with the names of the first."""
    branches = list(_list_branches(tree))
    bound = [bind(branch) for branch in branches]
    if any(node.is_changing for node in bound):
        bound = [as_changes(node) for node in bound]
    widths = [len(list_visible(node)) for node in bound]
    for branch, width in zip(branches, widths, strict=True):
        if width != widths[0]:
            message = f"the parts of UNION ALL have as many columns each; the first has {widths[0]}, this one {width}"
            raise SqlError(message, location_of(branch))
    casts = [_find_cast(_list_typed(branches, bound, position), tree) for position in range(widths[0])]
    names = [field.name for field in list_visible(bound[0])]
    return Union(tuple(_align(node, names, casts) for node in bound))


def _list_branches(tree: exp.Expr) -> list[exp.Expr]:
    if not isinstance(tree, exp.Union):
        return [tree]
    if tree.args.get("distinct"):
        raise SqlError(f"{_ONCE}, or SELECT DISTINCT of it within TUMBLE", location_of(tree))
    if tree.args.get("by_name"):
        message = "UNION ALL goes by position; name the columns of each part in the same order"
        raise SqlError(message, location_of(tree))
    extra = [name for name, part in tree.args.items() if part and name not in _KNOWN]
    if extra:
        message = f"{extra[0].rstrip('_').replace('_', ' ').upper()} of a UNION ALL is not available; write it around"
        raise SqlError(f"{message}: SELECT ... FROM (SELECT ... UNION ALL SELECT ...) AS x", location_of(tree))
    return [*_list_branches(tree.this), *_list_branches(tree.expression)]


def _list_typed(branches: Sequence[exp.Expr], bound: Sequence[Node], position: int) -> list[pa.Field]:
    """A column in all branches but those in which it is NULL, which has every type."""
    fields = [list_visible(node)[position] for node in bound]
    nulls = [_is_null(branch.unnest(), position) for branch in branches]
    return [field for field, is_null in zip(fields, nulls, strict=True) if not is_null] or fields


def _is_null(branch: exp.Expr, position: int) -> bool:
    chosen = branch.selects if isinstance(branch, exp.Select) and not branch.is_star else []
    return position < len(chosen) and isinstance(chosen[position].unalias().unnest(), exp.Null)


def _find_cast(fields: Sequence[pa.Field], tree: exp.Expr) -> str:
    """The type that DuckDB brings a column's values to."""
    parts = {f"part{number}": empty(pa.schema([field.with_name("v")])) for number, field in enumerate(fields)}
    with register_tables(parts) as connection:
        common = connection.sql(" UNION ALL ".join(f"SELECT v FROM {part}" for part in parts)).types[0]
    if common.id != "varchar" and len({_kind(field.type) for field in fields}) > 1:
        told = " and ".join(dict.fromkeys(sql_name(field.type) for field in fields))
        raise SqlError(f"column {fields[0].name!r} of UNION ALL is {told}; cast one", location_of(tree))
    return name_carried(common)


def _kind(type_: pa.DataType) -> str:
    """Types of one kind become each other without a failure."""
    if pa.types.is_boolean(type_) or pa.types.is_integer(type_) or pa.types.is_floating(type_):
        return "number"
    if pa.types.is_decimal(type_):
        return "number"
    return "time" if pa.types.is_timestamp(type_) or pa.types.is_date(type_) else str(type_.id)


def _align(node: Node, names: Sequence[str], casts: Sequence[str]) -> Node:
    """The rows of a branch, columns in the names and types of all."""
    columns = [(OP, Expression.of(OP, pa.string()))] if node.is_changing else []
    for name, field, cast in zip(names, list_visible(node), casts, strict=True):
        column = Expression.of(field.name, field.type)
        bound = scalar(parse_expression(f"CAST({column.sql} AS {cast})"), Scope("union", node.schema))
        columns.append((name, column if bound.type == field.type else bound))
    return Project(node, tuple(columns))
