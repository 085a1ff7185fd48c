"""GATHER as an operator."""

from skerry.operators.gather import Gather as GatherOperator
from skerry.operators.operator import Operator
from skerry.plan.gather import Gather

__all__ = ["build_gather"]


def build_gather(view: str, node: Gather) -> Operator:
    """The operator of a join of variable arity."""
    return GatherOperator(
        node.relations[0].schema,
        key=node.key,
        sensor=node.sensor,
        time=node.time,
        span_us=node.span_us,
        min_arity=node.min_arity,
        early=node.early,
        flatten=node.flatten,
        limit=node.limit,
    )
