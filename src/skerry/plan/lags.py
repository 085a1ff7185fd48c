"""How far behind the watermark the times in a view's answers may lie.

A view that is read by another must let it know when a window is complete. The clock of what reads it is kept back by
the lag of the time column that it goes by, so that no answer comes too late.
"""

from skerry.model.types import TIMESTAMP
from skerry.model.window import WINDOW_END, WINDOW_START
from skerry.plan.deduce import Deduce
from skerry.plan.nodes import Absence, Aggregate, Gather, Join, Lookup, Node, Project, Scan, Select
from skerry.plan.overload import Spilling

__all__ = ["lag_of", "times"]


def lag_of(node: Node, column: str) -> int | None:
    """How many microseconds a column of a relation may lie behind the clock of what gives it; None if anything goes."""
    if isinstance(node, Scan):
        return 0 if column == node.source.event_time else None
    if isinstance(node, Project):
        source = dict(node.columns)[column].column
        return None if source is None else lag_of(node.input, source)
    if isinstance(node, Select | Lookup):
        return lag_of(node.input, column) if column in node.input.schema.names else None
    if isinstance(node, Aggregate):
        return {WINDOW_END: 0, WINDOW_START: node.window.size_us}.get(column)
    if isinstance(node, Join):
        return _of_join(node, column)
    if isinstance(node, Absence):
        return _of_absence(node, column)
    if isinstance(node, Gather):
        return 0 if column == "ts" else None
    return node.lag_of(column) if isinstance(node, Deduce) else None


def times(node: Node) -> list[str]:
    """The columns of a relation that a window can go by."""
    return [field.name for field in node.schema if field.type == TIMESTAMP and lag_of(node, field.name) is not None]


def _of_join(join: Join, column: str) -> int | None:
    """A combination is given when its last member comes; the others are older by their windows at the most.

    Where readings are kept on disk it is given when they are read back, and that may be later.
    """
    if isinstance(join.overload, Spilling):
        return None
    spans = {f"{side.name}.{side.time}": side.span_us for side in join.sides}
    return spans.get(column)


def _of_absence(absence: Absence, column: str) -> int | None:
    """A row is given when its window is over."""
    lag, span_us = lag_of(absence.relations[0], column), absence.sides[0].span_us
    return None if lag is None or span_us is None else lag + span_us
