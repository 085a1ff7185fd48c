"""What views that are answered together have in common, and how they are told apart."""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from typing import Self

import pyarrow as pa
import sqlglot
from sqlglot import exp

from skerry.index.query_index import QueryIndex
from skerry.index.region_from_predicate import region_of
from skerry.model.duckdb_session import open_duckdb
from skerry.model.expression import Columns, Expression
from skerry.plan.nodes import Aggregate, Join, Node, Select, ViewPlan
from skerry.plan.shared import Deal

__all__ = ["Member", "dealt_out", "index_of", "over", "renamed", "selected", "tree_of"]


class Member(ABC):
    """A view that may be answered together with others."""

    view: ViewPlan

    @property
    @abstractmethod
    def alike(self) -> Hashable:
        """What views must have in common to be answered together."""

    @classmethod
    @abstractmethod
    def together(cls, members: Sequence[Self]) -> ViewPlan:
        """One plan for views that are alike."""


def dealt_out(
    views: Sequence[ViewPlan],
    node: Join | Aggregate,
    schema: pa.Schema,
    conditions: Sequence[Sequence[exp.Expr]],
    columns: Sequence[Columns],
) -> ViewPlan:
    """What a node gives, dealt out to views: what each asks of a row of this schema, and what it makes of it."""
    known: dict[Columns, Columns] = {}
    dealt = [(view.name, known.setdefault(each, each)) for view, each in zip(views, columns, strict=True)]
    index = index_of(schema, {view.name: asked for view, asked in zip(views, conditions, strict=True)})
    name = f"{views[0].name} and {len(views) - 1} more"
    return ViewPlan(name, Deal(node, index, tuple(dealt)), views[0].options)


def index_of(schema: pa.Schema, queries: Mapping[str, Sequence[exp.Expr]]) -> bytes:
    """An index of queries, packed, each all of some conditions."""
    index = QueryIndex(schema, open_duckdb)
    for name, conditions in queries.items():
        tree = exp.and_(*conditions) if conditions else exp.true()
        index.add(name, region_of(tree, schema, open_duckdb))
    return index.save()


def selected(node: Node) -> tuple[tuple[Expression, ...], Node]:
    """What selections ask, and what they stand on."""
    asked: list[Expression] = []
    while isinstance(node, Select):
        asked.append(node.predicate)
        node = node.input
    return tuple(asked), node


def tree_of(expression: Expression) -> exp.Expr:
    """An expression as a tree of its own."""
    return sqlglot.parse_one(expression.sql, read="duckdb")


def renamed(tree: exp.Expr, names: Mapping[str, str]) -> exp.Expr:
    """The same tree over columns of other names."""
    for column in list(tree.find_all(exp.Column)):
        column.set("this", exp.to_identifier(names[column.name], quoted=True))
    return tree


def over(columns: Columns, names: Mapping[str, str]) -> Columns:
    """The same columns, computed from others."""
    if all(mine == other for mine, other in names.items()):
        return columns
    return tuple((name, _over(expression, names)) for name, expression in columns)


def _over(expression: Expression, names: Mapping[str, str]) -> Expression:
    if expression.column is not None:
        return Expression.of(names[expression.column], expression.type)
    return Expression(renamed(tree_of(expression), names).sql("duckdb"), expression.type)
