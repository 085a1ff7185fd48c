"""HOP where rows are given one by one: each in every window that it is in."""

from dataclasses import replace

from skerry.errors import SqlError
from skerry.lang.sql.from_clause import From
from skerry.model.window import Window
from skerry.plan.in_windows import InWindows
from skerry.plan.node import Node

__all__ = ["repeat_in_windows"]

_MOST_WINDOWS = 1000


def repeat_in_windows(node: Node, read: From) -> tuple[Node, From]:
    """The rows with their windows, and what they are read as; as they are, if a row is in one window only."""
    if not isinstance(read.window, Window) or read.window.tumbling or read.time is None:
        return node, read
    if read.window.size_us > _MOST_WINDOWS * read.window.slide_us:
        raise SqlError(f"HOP gives a row in {_MOST_WINDOWS} windows at the most; aggregate over it")
    repeated = InWindows(node, read.time, read.window)
    return repeated, replace(read, source=replace(read.source, schema=repeated.schema), window=None)
