"""SILENCE as operators, in two halves."""

from skerry.model.session_window import SessionWindow
from skerry.operators.operator import Operator
from skerry.operators.session_aggregate import PartialSessions
from skerry.operators.silence import Silence as SilenceOperator
from skerry.plan.silence import Silence

__all__ = ["build_partial_silence", "build_silence"]


def build_silence(view: str, node: Silence) -> Operator:
    """The half that remembers when each sensor was heard last."""
    return SilenceOperator(node.key_fields, node.gap_us, returns=node.returns, forget_us=node.forget_us)


def build_partial_silence(node: Silence) -> Operator:
    """The half that finds when each sensor was heard in a batch, before the shuffle."""
    return PartialSessions(SessionWindow(node.gap_us), node.time, node.key_fields, [])
