"""Aggregates over SESSION_WINDOW as operators, in two halves."""

from skerry.operators.operator import Operator
from skerry.operators.session_aggregate import PartialSessions
from skerry.operators.session_aggregate import SessionAggregate as SessionAggregateOperator
from skerry.plan.session_aggregate import SessionAggregate

__all__ = ["build_partial_sessions", "build_session_aggregate"]


def build_session_aggregate(view: str, node: SessionAggregate) -> Operator:
    """The half that keeps sessions until they are over."""
    return SessionAggregateOperator(node.window, node.key_fields, node.folds)


def build_partial_sessions(node: SessionAggregate) -> Operator:
    """The half that folds a batch into short sessions, before the shuffle."""
    return PartialSessions(node.window, node.time, node.key_fields, node.folds)
