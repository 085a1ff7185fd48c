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
from skerry.model.window import GroupWindow, Window

__all__ = ["find_group_window", "find_step"]


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
    """The length of the pieces that an expression cuts time into, if they are all of one."""
    bare = part.unnest()
    if isinstance(bare, exp.Cast) and bare.to.this == exp.DType.DATE and isinstance(bare.this.unnest(), exp.Column):
        return MICROS["DAY"]
    if not isinstance(bare, exp.Anonymous) or len(bare.expressions) not in (2, 3):
        return None
    size, moment, *origin = bare.expressions
    if origin:
        return _find_step_from(size, moment, origin[0]) if bare.name.lower() == "time_bucket" else None
    if not isinstance(moment.unnest(), exp.Column):
        return None
    if bare.name.lower() in ("date_trunc", "datetrunc") and isinstance(size, exp.Literal):
        return MICROS.get(size.name.upper().removesuffix("S"))
    return interval(size) if bare.name.lower() == "time_bucket" and _is_short(size) else None


def _find_step_from(size: exp.Expr, moment: exp.Expr, origin: exp.Expr) -> int | None:
    """The length of buckets that are counted from a moment, if one begins at 1970-01-01 too."""
    start = _read_moment(origin)
    if start is None or not isinstance(moment.unnest(), exp.Column) or not isinstance(size, exp.Interval):
        return None
    step = interval(size)
    is_aligned = step > 0 and start % step == 0 and Window(step, step).origin_us % step == 0
    return step if is_aligned else None


def _read_moment(tree: exp.Expr) -> int | None:
    """A constant time, in microseconds since 1970-01-01."""
    if not isinstance(tree, exp.Cast) or not isinstance(tree.this, exp.Literal):
        return None
    try:
        moment = datetime.fromisoformat(tree.this.name)
    except ValueError:
        return None
    return None if moment.tzinfo else (moment - datetime(1970, 1, 1)) // timedelta(microseconds=1)


def _is_short(size: exp.Expr) -> bool:
    """Buckets of whole days may begin on any day."""
    try:
        return MICROS["DAY"] % interval(size) == 0
    except (SqlError, ZeroDivisionError):
        return False


def _starts(parts: Sequence[exp.Expr]) -> bool:
    """Whether all go by the start of the window: the end of the last one belongs to the next piece of time."""
    columns = [column for part in parts for column in part.find_all(exp.Column)]
    return all(identifier(column) == "window_start" for column in columns)
