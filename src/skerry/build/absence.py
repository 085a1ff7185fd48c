"""EXISTS, NOT EXISTS, IN and NOT IN over a stream as operators."""

from skerry.operators.joins import absence as operators
from skerry.operators.operator import Operator
from skerry.plan.absence import Absence, NotIn, Presence

__all__ = ["build_absence", "build_not_in", "build_presence"]


def build_absence(view: str, node: Absence) -> Operator:
    """The operator of an absence."""
    return operators.Absence(node.sides, node.columns, node.condition)


def build_presence(view: str, node: Presence) -> Operator:
    """The operator of a presence."""
    return operators.Presence(node.sides, node.columns, node.condition)


def build_not_in(view: str, node: NotIn) -> Operator:
    """The operator of NOT IN."""
    return operators.NotIn(node.sides, node.columns)
