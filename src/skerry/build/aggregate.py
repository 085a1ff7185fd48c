"""Aggregates over TUMBLE and HOP as operators, in two halves."""

from skerry.model.slices import Slices
from skerry.operators.aggregate import WindowAggregate
from skerry.operators.operator import Operator
from skerry.operators.partial_aggregate import PartialAggregate
from skerry.plan.aggregate import Aggregate

__all__ = ["build_aggregate", "build_partial_aggregate"]


def build_aggregate(view: str, node: Aggregate) -> Operator:
    """The half that keeps partial rows until their windows close."""
    return WindowAggregate(node.window, node.key_fields, node.folds)


def build_partial_aggregate(node: Aggregate) -> Operator:
    """The half that folds a batch into few rows, before the shuffle."""
    return PartialAggregate(Slices.of([node.window]), node.time, node.key_fields, node.folds)
