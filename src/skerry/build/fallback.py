"""Fallback as an operator."""

from skerry.operators.fallback import Fallback as FallbackOperator
from skerry.operators.operator import Operator
from skerry.plan.fallback import Fallback

__all__ = ["build_fallback"]


def build_fallback(view: str, node: Fallback) -> Operator:
    """The operator of a fallback."""
    stand_ins = {each.sensor: each.others for each in node.stand_ins}
    return FallbackOperator(node.input.schema, node.time, node.sensor, stand_ins, dict(node.limits_us), node.taken_by)
