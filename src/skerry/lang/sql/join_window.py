"""TUMBLE and HOP over streams that are joined: what meets lies in one window.

A combination is in the window of its readings. A reading stays until its window ends: readings of streams over SLIDING
are before that end, so that the answer is settled when the window is.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from sqlglot import exp

from skerry.errors import SqlError
from skerry.lang.sql.from_clause import From
from skerry.lang.sql.hop_rows import repeat_in_windows
from skerry.lang.sql.statements import location_of
from skerry.model.dialect import write_expression
from skerry.model.window import WINDOW_END, WINDOW_START, Window
from skerry.plan.scan import Scan

__all__ = ["check_ends", "find_window", "is_hop", "keep_for_window", "within_windows", "write_ends_by_starts"]


def find_window(reads: Sequence[From], tree: exp.Expr) -> From:
    """The relation whose window it is, the first of several; all windows must be the same."""
    found = [read for read in reads if read.window]
    if not found:
        written = f"TUMBLE({reads[0].source.name}, time, INTERVAL '30' SECOND)"
        message = f"an aggregate over a join needs the window of one of its streams: {written}"
        raise SqlError(f"{message}; or let the view be kept current: WITH (emit='changes')", location_of(tree))
    if any(read.window != found[0].window for read in found):
        raise SqlError("streams that are joined over windows have one window, or SLIDING", location_of(tree))
    return found[0]


def check_ends(reads: Sequence[From], tree: exp.Expr) -> None:
    """Refuse the ends of a window behind the name of a relation that has none."""
    first = find_window(reads, tree)
    names = {read.name.lower() for read in reads if read.window}
    for column in tree.find_all(exp.Column):
        if column.name.lower() in (WINDOW_START, WINDOW_END) and column.table and column.table.lower() not in names:
            message = f"{write_expression(column)} has to be that of the window, {first.name}.{column.name}"
            raise SqlError(message, location_of(column))


def keep_for_window(read: From, tree: exp.Expr) -> From:
    """A stream that is joined, its readings staying as long as a window may last."""
    if read.window is None:
        return read
    if not isinstance(read.window, Window):
        message = f"{read.window.only_groups}; where streams are joined, write TUMBLE or HOP"
        raise SqlError(message, location_of(tree))
    span_us, window = read.window.size_us, read.window
    if is_hop(read):
        _, read = repeat_in_windows(Scan(read.source), read)
    return replace(read, span_us=span_us, window=window)


def is_hop(read: From) -> bool:
    """Whether a reading is in several windows."""
    return isinstance(read.window, Window) and not read.window.tumbling


def write_ends_by_starts(tree: exp.Select, window: Window) -> exp.Select:
    """The same SELECT, ``window_end`` written as ``window_start`` and the window's size, under the name it had."""
    size = exp.Interval(this=exp.Literal.string(str(int(window.size_us))), unit=exp.var("MICROSECOND"))

    def write(node: exp.Expr) -> exp.Expr:
        if not isinstance(node, exp.Column) or node.name.lower() != WINDOW_END:
            return node
        start = exp.column(WINDOW_START, table=node.args.get("table"))
        start.meta.update(node.meta)
        return exp.paren(exp.Add(this=start, expression=size.copy()), copy=False)

    found = tree.copy()
    named = [
        exp.alias_(part, WINDOW_END) if isinstance(part, exp.Column) and part.name.lower() == WINDOW_END else part
        for part in found.selects
    ]
    found.set("expressions", named)
    for clause in ("expressions", "group", "having"):
        parts = found.args.get(clause)
        if isinstance(parts, list):
            found.set(clause, [part.transform(write) for part in parts])
        elif parts is not None:
            found.set(clause, parts.transform(write))
    return found


def within_windows(
    reads: Sequence[From], members: Sequence[int], stream: int, nullable: Collection[int] = ()
) -> Iterator[exp.Expr]:
    """What keeps a stream and those that it joins inside a window. A member that is missing keeps nothing out."""
    own = reads[stream]
    windowed = [member for member in members if reads[member].window]
    sure = [member for member in windowed if member not in nullable]
    if own.window and windowed:
        starts = [_column(reads[member], WINDOW_START) for member in sure[:1] or windowed]
        start = starts[0] if len(starts) == 1 else exp.Anonymous(this="coalesce", expressions=starts)
        yield exp.EQ(this=start, expression=_column(own, WINDOW_START))
    for member in members:
        if bool(reads[member].window) != bool(own.window):
            inside, ending = (reads[member], own) if own.window else (own, reads[member])
            before = exp.LT(this=_column(inside, str(inside.time)), expression=_column(ending, WINDOW_END))
            if member in nullable:
                missing = exp.Is(this=_column(reads[member], str(reads[member].time)), expression=exp.null())
                yield exp.paren(exp.or_(missing, before))
            else:
                yield before


def _column(read: From, name: str) -> exp.Column:
    return exp.column(name, read.name, quoted=True)
