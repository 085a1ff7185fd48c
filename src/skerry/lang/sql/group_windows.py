"""GROUP BY over expressions of the window's ends: which windows go into one group.

The window is part of every group. An expression that differs from window to window (``window_start + INTERVAL '1'
HOUR``) changes nothing in that. One that cuts times off (``date_trunc('hour', window_start)``) puts several windows
into one group: over TUMBLE that is a longer TUMBLE. What else makes one of several windows is refused, since nobody
could say when such a group is complete.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlglot import exp

from skerry.errors import SqlError
from skerry.lang.sql.create_source import identifier, interval
from skerry.lang.sql.statements import location_of
from skerry.model.dialect import write_expression
from skerry.model.time import MICROS, Micros
from skerry.model.window import MONDAY_US, GroupWindow, Window

__all__ = ["find_group_window", "find_piece", "find_step"]


def find_group_window(parts: Sequence[exp.Expr], window: GroupWindow | None, *, is_fixed: bool) -> GroupWindow | None:
    """The window of groups: the one laid over the stream, or, if it is not fixed, a longer one that holds several."""
    if not parts or any(_is_shifted(part) for part in parts):
        return window
    steps = [find_step(part) for part in parts]
    known = [step for step in steps if step is not None]
    if isinstance(window, Window) and window.tumbling and len(known) == len(steps):
        finest = min(known)
        if window.size_us >= finest:
            return window
        is_whole = finest % window.size_us == 0 and all(step % finest == 0 for step in known)
        longer = Window(Micros(finest), Micros(finest))
        is_cut = (longer.origin_us - window.origin_us) % window.size_us == 0
        if is_whole and is_cut and _starts(parts) and not is_fixed:
            return longer
    text = write_expression(parts[0])
    message = f"GROUP BY {text} may put several windows into one group; name window_start in GROUP BY too"
    raise SqlError(f"{message}, or let another view aggregate the answers of this one", location_of(parts[0]))


def _is_shifted(part: exp.Expr) -> bool:
    """Whether no two windows share a value: an end of the window, more or less a constant."""
    bare = part.unnest()
    while isinstance(bare, exp.Add | exp.Sub) and not bare.expression.find(exp.Column):
        bare = bare.this.unnest()
    return isinstance(bare, exp.Column)


def find_step(part: exp.Expr) -> int | None:
    """The length of the pieces that an expression cuts time into, if they begin where windows of it do."""
    piece = find_piece(part)
    return piece.size_us if piece and piece.tumbling and piece.offset_us == 0 else None


def find_piece(part: exp.Expr) -> Window | None:
    """The pieces that an expression cuts time into, if they are all of one length."""
    bare = part.unnest()
    if isinstance(bare, exp.Cast) and bare.to.this == exp.DType.DATE and isinstance(bare.this.unnest(), exp.Column):
        return _tumble(MICROS["DAY"])
    if not isinstance(bare, exp.Anonymous) or len(bare.expressions) not in (2, 3):
        return None
    size, moment, *shift = bare.expressions
    if not isinstance(moment.unnest(), exp.Column):
        return None
    if bare.name.lower() in ("date_trunc", "datetrunc") and isinstance(size, exp.Literal) and not shift:
        step = MICROS.get(size.name.upper().removesuffix("S"))
        return _tumble(step) if step else None
    return _find_bucket(size, shift) if bare.name.lower() == "time_bucket" else None


def _tumble(size_us: int, start_us: int | None = None) -> Window | None:
    """Pieces of one length, of which one begins at a moment."""
    if size_us <= 0:
        return None
    plain = Window(Micros(size_us), Micros(size_us))
    offset = 0 if start_us is None else (start_us - plain.origin_us) % size_us
    return Window(plain.size_us, plain.slide_us, offset)


def _find_bucket(size: exp.Expr, shift: Sequence[exp.Expr]) -> Window | None:
    """The buckets of time_bucket: they are counted from a Monday, shifted by an interval, or from a moment."""
    spans = [_read_span(each) for each in (size, *shift)]
    moment = _read_moment(shift[0]) if shift else None
    if spans[0] is None or (shift and moment is None and spans[-1] is None):
        return None
    start = moment if moment is not None else MONDAY_US + sum(each or 0 for each in spans[1:])
    return _tumble(spans[0], start)


def _read_span(size: exp.Expr) -> int | None:
    try:
        return interval(size)
    except SqlError:
        return None


def _read_moment(tree: exp.Expr) -> int | None:
    """A constant time, in microseconds since 1970-01-01."""
    if not isinstance(tree, exp.Cast) or not isinstance(tree.this, exp.Literal):
        return None
    try:
        moment = datetime.fromisoformat(tree.this.name)
    except ValueError:
        return None
    return None if moment.tzinfo else (moment - datetime(1970, 1, 1)) // timedelta(microseconds=1)


def _starts(parts: Sequence[exp.Expr]) -> bool:
    """Whether all go by the start of the window: the end of the last one belongs to the next piece of time."""
    columns = [column for part in parts for column in part.find_all(exp.Column)]
    return all(identifier(column) == "window_start" for column in columns)
