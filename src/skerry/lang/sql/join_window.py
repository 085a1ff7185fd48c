"""The window of an aggregate over a join: TUMBLE over one of the streams, or the same over several.

A combination is in the window of that stream's reading. The reading stays until its window ends: the other readings of
a combination are before that, so that the answer is settled when the window is.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sqlglot import exp

from skerry.errors import SqlError
from skerry.lang.sql.from_clause import From
from skerry.lang.sql.statements import location_of
from skerry.model.window import WINDOW_END, WINDOW_START, Window

__all__ = ["check_ends", "find_window", "keep_for_window", "keep_within_window"]


def find_window(reads: Sequence[From], tree: exp.Expr) -> From:
    """The relation whose window it is, the first of several; all windows must be the same."""
    found = [read for read in reads if read.window]
    if not found:
        message = f"TUMBLE({reads[0].source.name}, time, INTERVAL '30' SECOND)"
        raise SqlError(f"an aggregate over a join needs the window of one of its streams: {message}", location_of(tree))
    if any(read.window != found[0].window for read in found):
        raise SqlError("the streams of an aggregate over a join have one window, or SLIDING", location_of(tree))
    return found[0]


def check_ends(reads: Sequence[From], tree: exp.Expr) -> None:
    """Refuse the ends of a window behind the name of a relation that has none."""
    first = find_window(reads, tree)
    names = {read.name.lower() for read in reads if read.window}
    for column in tree.find_all(exp.Column):
        if column.name.lower() in (WINDOW_START, WINDOW_END) and column.table and column.table.lower() not in names:
            message = f"{column.sql('risingwave')} has to be that of the window, {first.name}.{column.name}"
            raise SqlError(message, location_of(column))


def keep_for_window(read: From, tree: exp.Expr) -> From:
    """A stream that is joined, its readings staying as long as a window may last."""
    if read.window is None:
        return read
    if read.window.only_groups:
        message = f"{read.window.only_groups}; where streams are joined, write TUMBLE"
        raise SqlError(message, location_of(tree))
    assert isinstance(read.window, Window)
    return replace(read, span_us=read.window.size_us)


def keep_within_window(streams: Sequence[From], tree: exp.Expr) -> Iterator[exp.Expr]:
    """What keeps the combinations of joined streams inside a window."""
    first = find_window(streams, tree)
    for read in streams:
        if read is first:
            continue
        if read.window:
            yield exp.EQ(this=_column(read, WINDOW_START), expression=_column(first, WINDOW_START))
        else:
            yield exp.LT(this=_column(read, str(read.time)), expression=_column(first, WINDOW_END))


def _column(read: From, name: str) -> exp.Column:
    return exp.column(name, read.name, quoted=True)
