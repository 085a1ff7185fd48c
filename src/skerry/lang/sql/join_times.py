"""The time that a joined view goes by, where it has several: that which the join compares.

An aggregate that gives ``window_start`` and ``window_end`` has two times, and a join of streams as many as it names.
"""

from collections.abc import Iterator
from dataclasses import replace

from sqlglot import exp

from skerry.lang.sql.create_source import identifier
from skerry.lang.sql.from_clause import From
from skerry.lang.sql.streams import Streams
from skerry.plan.view import VIEW_CONNECTOR

__all__ = ["choose_time"]


def choose_time(read: From, tree: exp.Select, streams: Streams) -> From:
    """A relation with the first of its times that conditions of the join name; as it is, if it has one or none."""
    if read.time is not None or read.source.is_table or read.source.connector != VIEW_CONNECTOR:
        return read
    times = streams.plan(read.source.name).root.time_columns
    named = [name for name in _list_compared(tree, read.name.lower()) if name in times]
    return replace(read, time=named[0]) if named else read


def _list_compared(tree: exp.Select, relation: str) -> Iterator[str]:
    """The columns of a relation that are named in ON, USING and WHERE, in this order."""
    joins, where = tree.args.get("joins") or [], tree.args.get("where")
    for join in joins:
        yield from (identifier(each) for each in join.args.get("using") or ())
    for part in [*(join.args.get("on") for join in joins), where]:
        for column in part.find_all(exp.Column, bfs=False) if part else ():
            if column.table.lower() in ("", relation) and isinstance(column.this, exp.Identifier):
                yield identifier(column)
