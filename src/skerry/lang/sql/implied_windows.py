"""Windows that nobody wrote, since GROUP BY says them.

``GROUP BY sensor, date_trunc('minute', ts)`` over a stream cuts time as TUMBLE of a minute does, and rows of an
aggregate that are grouped by its ``window_start`` belong to one window each. So both are read as if TUMBLE had been
written.
"""

from collections.abc import Iterator

import sqlglot
from sqlglot import exp

from skerry.lang.sql.create_source import identifier
from skerry.lang.sql.group_windows import find_piece
from skerry.lang.sql.join_window import write_ends_by_starts
from skerry.lang.sql.streams import Streams
from skerry.model.dialect import Dialect
from skerry.model.time import Micros
from skerry.model.window import WINDOW_END, WINDOW_START, Window
from skerry.plan.aggregate import Aggregate
from skerry.plan.revised_aggregate import RevisedAggregate
from skerry.plan.view import VIEW_CONNECTOR
from skerry.plan.window_ends import find_window_end

__all__ = ["imply_window", "list_groups"]


def imply_window(tree: exp.Select, table: exp.Expr, streams: Streams) -> exp.Select:
    """An aggregating SELECT with the window that its GROUP BY stands for, if FROM names a stream alone."""
    if not isinstance(table, exp.Table) or isinstance(table.this, exp.Func) or table.args.get("db"):
        return tree
    name = identifier(table)
    source = streams.find(name)
    if source is None or source.is_table:
        return tree
    for part in list_groups(tree):
        column = part.find(exp.Column)
        if column is None:
            continue
        time, piece = identifier(column), find_piece(_strip_shift(part))
        is_view = source.connector == VIEW_CONNECTOR
        times = streams.plan(name).root.time_columns if is_view else [source.event_time]
        if piece is not None and time in times:
            return _lay(tree, table, column, piece)
        is_column = isinstance(part, exp.Column)
        if is_view and is_column and (window := _find_window(name, time, streams)) is not None:
            # Hopping windows start a slide apart, and end later than the next ones start.
            slide = Window(window.slide_us, window.slide_us)
            return _lay(tree if window.tumbling else write_ends_by_starts(tree, window), table, column, slide)
        if is_column and time in times and time not in (WINDOW_START, WINDOW_END):
            return _lay(tree, table, column, Window(Micros(1), Micros(1)))  # all rows of one moment
    return tree


def _strip_shift(part: exp.Expr) -> exp.Expr:
    """What a constant is added to: it makes no other groups."""
    bare = part.unnest()
    while isinstance(bare, exp.Add | exp.Sub) and not bare.expression.find(exp.Column):
        bare = bare.this.unnest()
    return bare


def list_groups(tree: exp.Select) -> Iterator[exp.Expr]:
    """The parts of GROUP BY, aliases and positions resolved."""
    group = tree.args.get("group")
    aliases = {identifier(part.args["alias"]): part.this for part in tree.selects if isinstance(part, exp.Alias)}
    for part in group.expressions if group else []:
        if isinstance(part, exp.Literal) and part.name.isdigit() and 1 <= int(part.name) <= len(tree.selects):
            yield tree.selects[int(part.name) - 1].unalias()
        elif isinstance(part, exp.Column) and not part.table and identifier(part) in aliases:
            yield aliases[identifier(part)]
        else:
            yield part


def _find_window(view: str, column: str, streams: Streams) -> Window | None:
    """The window that a column of a view starts, if it is one of an aggregate over TUMBLE or HOP."""
    root = streams.plan(view).root
    found = find_window_end(root, column) if column == WINDOW_START and column in root.schema.names else None
    if found is None or found[1] != WINDOW_START or not isinstance(found[0], Aggregate | RevisedAggregate):
        return None
    window = found[0].window
    return window if isinstance(window, Window) and window.offset_us == 0 else None


def _lay(tree: exp.Select, table: exp.Table, time: exp.Column, window: Window) -> exp.Select:
    """The same SELECT over TUMBLE of the stream."""
    spans = [window.size_us, window.offset_us][: 2 if window.offset_us else 1]
    written = ", ".join(f"INTERVAL '{int(span)}' MICROSECOND" for span in spans)
    form = sqlglot.parse_one(f"SELECT 1 FROM TUMBLE(s, t, {written}) AS a", read=Dialect)
    laid = form.find(exp.Table)
    assert laid is not None
    call = laid.this
    call.set("expressions", [exp.column(table.this.copy()), exp.column(time.this.copy()), *call.expressions[2:]])
    alias = table.args.get("alias")
    laid.set("alias", alias.copy() if alias else exp.TableAlias(this=table.this.copy()))
    for node, origin in ((call, table), (call.expressions[0], table), (call.expressions[1], time)):
        node.meta.update(next((part.meta for part in origin.walk() if "line" in part.meta), {}))
    found = _write_starts(tree, time, window)
    clause = found.args.get("from_") or found.args["from"]
    clause.set("this", laid)
    return found


def _write_starts(tree: exp.Select, time: exp.Column, window: Window) -> exp.Select:
    """The same SELECT, in which the pieces that the window stands for are its start: a time that views above know."""

    def write(node: exp.Expr) -> exp.Expr:
        is_piece = isinstance(node, exp.Anonymous) and find_piece(node) == window
        if not is_piece or identifier(next(node.find_all(exp.Column))) != identifier(time):
            return node
        start = exp.column(WINDOW_START)
        start.meta.update(next((part.meta for part in node.walk() if "line" in part.meta), {}))
        return start

    found = tree.copy()
    for clause in ("expressions", "group", "having"):
        parts = found.args.get(clause)
        if isinstance(parts, list):
            found.set(clause, [_keep_name(part, part.copy().transform(write)) for part in parts])
        elif parts is not None:
            found.set(clause, parts.copy().transform(write))
    return found


def _keep_name(part: exp.Expr, written: exp.Expr) -> exp.Expr:
    """What was written anew under the name that it had."""
    is_new = isinstance(part, exp.Anonymous) and written != part
    return exp.alias_(written, part.name.lower()) if is_new else written
