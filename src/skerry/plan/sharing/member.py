"""What views that are answered together have in common, and how they are told apart."""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from typing import Self

import pyarrow as pa
from sqlglot import exp

from skerry.model.dialect import parse_expression, write_expression
from skerry.model.expression import Columns, Expression, rename_columns
from skerry.plan.fan_out import FanOut
from skerry.plan.node import Node, Stateful
from skerry.plan.select import Select
from skerry.plan.view import ViewPlan

__all__ = ["Member", "combine", "fan_out", "parse_tree", "recompute", "split_selections"]


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


def fan_out(
    views: Sequence[ViewPlan],
    node: Stateful,
    conditions: Sequence[Sequence[exp.Expr]],
    columns: Sequence[Columns],
) -> ViewPlan:
    """What a node gives, for all of some views: what each asks of a row, and what it makes of it."""
    known: dict[Columns, Columns] = {}  # equal columns are one object, so that the plan stays small when it travels
    of_views = [(view.name, known.setdefault(each, each)) for view, each in zip(views, columns, strict=True)]
    queries = [(view.name, combine(asked)) for view, asked in zip(views, conditions, strict=True)]
    name = f"{views[0].name} and {len(views) - 1} more"
    return ViewPlan(name, FanOut(node, tuple(queries), tuple(of_views)), views[0].options)


def combine(conditions: Sequence[exp.Expr]) -> Expression:
    """All of some conditions, as one predicate."""
    tree = exp.and_(*conditions) if conditions else exp.true()
    return Expression(write_expression(tree), pa.bool_())


def split_selections(node: Node) -> tuple[tuple[Expression, ...], Node]:
    """What selections ask, and what they stand on."""
    asked: list[Expression] = []
    while isinstance(node, Select):
        asked.append(node.predicate)
        node = node.input
    return tuple(asked), node


def parse_tree(expression: Expression) -> exp.Expr:
    """An expression as a tree of its own."""
    return parse_expression(expression.sql)


def recompute(columns: Columns, names: Mapping[str, str]) -> Columns:
    """The same columns, computed from others."""
    if all(mine == other for mine, other in names.items()):
        return columns
    return tuple((name, _recompute(expression, names)) for name, expression in columns)


def _recompute(expression: Expression, names: Mapping[str, str]) -> Expression:
    if expression.column is not None:
        return Expression.of(names[expression.column], expression.type)
    return Expression(write_expression(rename_columns(parse_tree(expression), names)), expression.type)
