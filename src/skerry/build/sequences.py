"""Sequences as an operator."""

from skerry.operators.operator import Operator
from skerry.operators.sequences import Sequences as SequencesOperator
from skerry.plan.sequences import Sequences

__all__ = ["build_sequences"]


def build_sequences(view: str, node: Sequences) -> Operator:
    """The operator that finds matches."""
    return SequencesOperator(node)
