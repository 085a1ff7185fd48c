"""Which columns are the ends of a window: those of one aggregate differ by a constant."""

from skerry.model.window import WINDOW_END, WINDOW_START
from skerry.plan.aggregate import Grouping
from skerry.plan.node import Node, Stateless
from skerry.plan.project import Project

__all__ = ["find_window_end"]


def find_window_end(node: Node, column: str) -> tuple[Node, str] | None:
    """The aggregate whose window a column is an end of, and which end; None if it is no such column."""
    while not isinstance(node, Grouping):
        if isinstance(node, Project):
            below = dict(node.columns)[column].column
            if below is None:
                return None
            column = below
        passes_columns = isinstance(node, Stateless) or getattr(node, "keeps_columns", False)
        if not passes_columns or column not in node.inputs[0].schema.names:
            return None
        node = node.inputs[0]
    return (node, column) if column in (WINDOW_START, WINDOW_END) else None
