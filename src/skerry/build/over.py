"""OVER as an operator."""

from skerry.operators.operator import Operator
from skerry.operators.over import Over as OverOperator
from skerry.plan.over import Over

__all__ = ["build_over"]


def build_over(view: str, node: Over) -> Operator:
    """The operator of functions over the rows around a row."""
    return OverOperator(node.input.schema, node.time, node.clauses, node.window, node.order, node.limit, node.offset)
