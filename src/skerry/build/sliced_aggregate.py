"""Aggregates over windows of several sizes as operators, in two halves."""

from skerry.operators.operator import Operator
from skerry.operators.partial_aggregate import PartialAggregate
from skerry.operators.sliced_aggregate import SlicedAggregate as SlicedAggregateOperator
from skerry.plan.sliced_aggregate import SlicedAggregate

__all__ = ["build_partial_slices", "build_sliced_aggregate"]


def build_sliced_aggregate(view: str, node: SlicedAggregate) -> Operator:
    """The half that keeps slices, and makes windows of them when these close."""
    return SlicedAggregateOperator(node.windows, node.key_fields, node.folds, node.wanted)


def build_partial_slices(node: SlicedAggregate) -> Operator:
    """The half that folds a batch into slices, before the shuffle."""
    return PartialAggregate(node.slices, node.time, node.key_fields, node.folds)
