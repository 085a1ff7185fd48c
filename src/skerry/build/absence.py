"""NOT EXISTS as an operator."""

from skerry.operators.joins.absence import Absence as AbsenceOperator
from skerry.operators.operator import Operator
from skerry.plan.absence import Absence

__all__ = ["build_absence"]


def build_absence(view: str, node: Absence) -> Operator:
    """The operator of an absence."""
    return AbsenceOperator(node.sides, node.columns)
