"""Selections and projections over each other, as few as mean the same.

A query over a subquery, or a view over a view, that only selects becomes one selection and one projection: the query
index takes it, views share it, and it costs one evaluation.

    Project ─ Select ─ Project ─ Select ─ Scan     ──►     Project ─ Select ─ Scan

What an inner projection computes stays where it is: an expression that fails on a row is NULL for that row, and so
would be all that is computed from it.
"""

from collections.abc import Mapping

import pyarrow as pa

from skerry.model.dialect import parse_expression, write_expression
from skerry.model.expression import Expression, columns_of, rename_columns
from skerry.model.predicate import All
from skerry.plan.failing import never_fails
from skerry.plan.node import Node
from skerry.plan.project import Project
from skerry.plan.select import Select

__all__ = ["merge_selections"]


def merge_selections(node: Node) -> Node:
    """The same plan, its selections and projections merged where they stand on each other."""
    return _merge(node.with_inputs(tuple(merge_selections(each) for each in node.inputs)))


def _merge(node: Node) -> Node:
    if isinstance(node, Project) and isinstance(node.input, Project):
        return _merge_projections(node, node.input)
    if isinstance(node, Select) and isinstance(node.input, Project):
        return _swap(node, node.input)
    if isinstance(node, Select) and isinstance(node.input, Select):
        return _join(node, node.input)
    return node


def _merge_projections(outer: Project, inner: Project) -> Node:
    names = _list_plain(inner)
    if any(not columns_of(expression) <= names.keys() for _, expression in outer.columns):
        return outer
    columns = tuple((name, _rename(expression, names)) for name, expression in outer.columns)
    return _merge(Project(inner.input, columns))


def _swap(select: Select, project: Project) -> Node:
    """The selection below the projection, if it asks about columns that are there too."""
    names = _list_plain(project)
    if not columns_of(select.predicate) <= names.keys():
        return select
    below = _merge(Select(project.input, _rename(select.predicate, names), select.text))
    return _merge(project.replace_fields(input=below))


def _join(outer: Select, inner: Select) -> Node:
    """Both as one, if the outer cannot fail: the inner may guard it against rows on which it does."""
    first, second = inner.predicate, outer.predicate
    if second.predicate is None and not never_fails(parse_expression(second.sql), outer.schema):
        return outer
    marks = All((first.predicate, second.predicate)) if first.predicate and second.predicate else None
    both = Expression(f"({first.sql}) AND ({second.sql})", pa.bool_(), predicate=marks)
    return Select(inner.input, both, f"{_enclose(inner.text)} AND {_enclose(outer.text)}")


def _list_plain(project: Project) -> dict[str, str]:
    """The columns that are columns of the input, by their names above."""
    return {name: expression.column for name, expression in project.columns if expression.column is not None}


def _rename(expression: Expression, names: Mapping[str, str]) -> Expression:
    own = columns_of(expression)
    if all(names[name] == name for name in own):
        return expression
    if expression.column is not None:
        return Expression.of(names[expression.column], expression.type)
    predicate = expression.predicate.rename(names) if expression.predicate else None
    sql = write_expression(rename_columns(parse_expression(expression.sql), names))
    return Expression(sql, expression.type, predicate=predicate)


def _enclose(text: str) -> str:
    return f"({text})" if " OR " in text.upper() else text
