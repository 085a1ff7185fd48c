"""Aggregates that are given anew at every change as operators, in two halves."""

from skerry.model.slices import Slices
from skerry.model.window import Window
from skerry.operators.operator import Operator
from skerry.operators.partial_aggregate import PartialAggregate
from skerry.operators.partial_revisions import PartialChanges, PartialGroups
from skerry.operators.revised_aggregate import RevisedAggregate as RevisedAggregateOperator
from skerry.operators.revised_sessions import RevisedSessions as RevisedSessionsOperator
from skerry.plan.revised_aggregate import RevisedAggregate, RevisedSessions

__all__ = ["build_partial_revisions", "build_revised_aggregate", "build_revised_sessions"]


def build_revised_aggregate(view: str, node: RevisedAggregate) -> Operator:
    """The half that keeps groups, and tells what becomes of them."""
    return RevisedAggregateOperator(
        node.window, node.key_fields, node.folds, is_signed=node.is_signed, gives_changes=node.gives_changes
    )


def build_partial_revisions(node: RevisedAggregate) -> Operator:
    """The half that folds a batch into few rows, before the shuffle."""
    window = node.window if isinstance(node.window, Window) else None
    if node.is_signed:
        return PartialChanges(node.key_fields, node.folds, window, node.time)
    if window is None or node.time is None:
        return PartialGroups(node.key_fields, node.folds)
    return PartialAggregate(Slices.of([window]), node.time, node.key_fields, node.folds)


def build_revised_sessions(view: str, node: RevisedSessions) -> Operator:
    """The half that keeps sessions, and tells what becomes of them."""
    return RevisedSessionsOperator(node.window, node.key_fields, node.folds)
