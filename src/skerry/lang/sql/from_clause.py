"""What stands in FROM: a stream by its name, or a window laid over it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from skerry.catalog import Source
from skerry.catalog.arrow_tables import CATALOG
from skerry.errors import InputError, SqlError, UnknownStream
from skerry.lang.sql.create_source import identifier, interval
from skerry.lang.sql.scalar import Scope, constant_moment
from skerry.lang.sql.statements import location_of
from skerry.lang.sql.streams import Streams
from skerry.model.landmark import Landmark
from skerry.model.session_window import SessionWindow
from skerry.model.time import Micros
from skerry.model.types import TIMESTAMP
from skerry.model.window import WINDOW_END, WINDOW_START, GroupWindow, Window

__all__ = ["LOOKED_UP", "From", "call_name", "read_from", "stream", "time_column", "window_columns"]

_MOST_ROWS = 10_000_000
LOOKED_UP = "a stream is joined with it: FROM stream AS t JOIN sensors AS s ON s.name = t.sensor"
"""What is done with a table of the catalogue."""


@dataclass(frozen=True)
class From:
    """A source, under a name, and the window laid over it."""

    source: Source
    name: str
    time: str | None = None
    window: GroupWindow | None = None
    span_us: Micros | None = None
    """How long a reading stays, in a sliding window."""
    last_rows: int | None = None
    """How many readings stay, in a window that counts them."""
    rewrites: Mapping[str, exp.Expr] = field(default_factory=dict)

    @property
    def scope(self) -> Scope:
        """The names an expression may use."""
        return Scope(self.name, self.source.schema, self.rewrites)


def read_from(table: exp.Expr, streams: Streams, *, alone: bool = False) -> From:
    """Bind one item of FROM. A query over tables is a table where a stream is joined with it; ``alone``, its rows."""
    if not isinstance(table, exp.Table):
        raise SqlError("a view reads streams; write FROM (SELECT ...) AS t", location_of(table))
    alias = identifier(table.args["alias"].this) if table.args.get("alias") else None
    if not isinstance(table.this, exp.Func) and (found := _find_in_catalog(table, streams)) is not None:
        return From(found, alias or identifier(table))
    extra = [argument for argument, part in table.args.items() if part and argument not in ("this", "alias")]
    if extra or table.alias_column_names:
        raise SqlError("a view reads a stream by its name alone: FROM stream AS alias", location_of(table))
    if not isinstance(table.this, exp.Func):
        source = stream(table, streams)
        source = (streams.find_rows(identifier(table)) if alone else None) or source
        return From(source, alias or identifier(table), source.event_time)
    return _read_window(table.this, alias, streams)


def _find_in_catalog(table: exp.Table, streams: Streams) -> Source | None:
    """A table of the catalogue, if one is named, alone or behind the schema that they are in."""
    given = {argument for argument, part in table.args.items() if part and argument not in ("this", "alias")}
    qualified = given == {"db"} and table.db.lower() == CATALOG
    if (given and not qualified) or table.alias_column_names:
        return None
    return streams.find_in_catalog(identifier(table), qualified=qualified)


def stream(named: exp.Expr, streams: Streams) -> Source:
    """The source of that name."""
    name = identifier(named)
    found = streams.find(name)
    if found is None and streams.find_in_catalog(name, qualified=False):
        raise SqlError(f"{name!r} is a table of the catalogue, and no stream; {LOOKED_UP}", location_of(named))
    if found is None:
        raise UnknownStream(name, streams.known, location_of(named))
    return found


def call_name(call: exp.Func) -> str:
    """What a function in FROM is called."""
    return call.name.upper() if isinstance(call, exp.Anonymous) else call.sql_name()


def time_column(call: exp.Func, source: Source, written: exp.Expr) -> str:
    """The time column that a window names; a stream has one time."""
    name = call_name(call)
    time = Scope(source.name, source.schema).find(written) if isinstance(written, exp.Column) else None
    if time is None or source.schema.field(time).type != TIMESTAMP:
        raise SqlError(f"the second argument of {name} is a TIMESTAMP column", location_of(call))
    if source.event_time not in (None, time):
        raise SqlError(
            f"{name} goes by {time!r}, but the watermark of {source.name!r} by {source.event_time!r}", location_of(call)
        )
    return time


def _read_window(call: exp.Func, alias: str | None, streams: Streams) -> From:
    name = call_name(call)
    if name not in _WINDOWS:
        raise SqlError(f"{name} is not available as a window; known are {', '.join(_WINDOWS)}", location_of(call))
    form, lay = _WINDOWS[name]
    most, least = form.count(",") + 1, form.partition("[")[0].count(",") + 1
    if not least <= len(call.expressions) <= most:
        count = f"{least}" if least == most else f"{least} or {most}"
        raise SqlError(f"{name} has {count} arguments, got {len(call.expressions)}: {form}", location_of(call))
    if not isinstance(call.expressions[0], exp.Column) or call.expressions[0].table:
        raise SqlError(f"the first argument of {name} is a stream", location_of(call))
    source = stream(call.expressions[0], streams)
    source = streams.find_rows(identifier(call.expressions[0])) or source
    return lay(call, source, alias or identifier(call.expressions[0]))


def _lay_aligned(call: exp.Func, source: Source, name: str) -> From:
    time = time_column(call, source, call.expressions[1])
    spans = [interval(argument) for argument in call.expressions[2:]]
    lengths = spans[: 1 if call_name(call) == "TUMBLE" else 2]
    try:
        window = Window(lengths[-1], lengths[0], sum(spans[len(lengths) :]))
    except InputError as error:
        raise SqlError(str(error), location_of(call)) from None
    return From(source, name, time, window, rewrites=window_columns(window, time))


def _lay_sliding(call: exp.Func, source: Source, name: str) -> From:
    time = time_column(call, source, call.expressions[1])
    span = interval(call.expressions[2])
    if span < 0:
        raise SqlError("a sliding window cannot be negative", location_of(call))
    return From(source, name, time, span_us=span)


def _lay_counted(call: exp.Func, source: Source, name: str) -> From:
    count = call.expressions[1]
    if not isinstance(count, exp.Literal) or count.is_string or not count.name.isdigit():
        raise SqlError("the second argument of LAST_ROWS is a number of rows", location_of(call))
    if not 1 <= int(count.name) <= _MOST_ROWS:
        raise SqlError(f"LAST_ROWS keeps 1 to {_MOST_ROWS} rows, got {count.name}", location_of(call))
    return From(source, name, source.event_time, last_rows=int(count.name))


def _lay_session(call: exp.Func, source: Source, name: str) -> From:
    time = time_column(call, source, call.expressions[1])
    try:
        window = SessionWindow(interval(call.expressions[2]))
    except InputError as error:
        raise SqlError(str(error), location_of(call)) from None
    return From(source, name, time, window)


def _lay_landmark(call: exp.Func, source: Source, name: str) -> From:
    time = time_column(call, source, call.expressions[1])
    start = constant_moment(call.expressions[2])
    return From(source, name, time, Landmark(start))


_WINDOWS: dict[str, tuple[str, Callable[[exp.Func, Source, str], From]]] = {
    "TUMBLE": ("TUMBLE(stream, time, size[, offset])", _lay_aligned),
    "HOP": ("HOP(stream, time, slide, size[, offset])", _lay_aligned),
    "SLIDING": ("SLIDING(stream, time, size)", _lay_sliding),
    "LAST_ROWS": ("LAST_ROWS(stream, count)", _lay_counted),
    "LANDMARK": ("LANDMARK(stream, time, start)", _lay_landmark),
    "SESSION_WINDOW": ("SESSION_WINDOW(stream, time, gap)", _lay_session),
}


def window_columns(window: Window, time: str) -> dict[str, exp.Expr]:
    """The window of a reading as expressions over its time, where it is in one window only."""
    if not window.tumbling:
        return {}
    moment = exp.Anonymous(this="epoch_us", expressions=[exp.column(time, quoted=True)])
    size = exp.Literal.number(int(window.size_us))
    shifted = moment - exp.Literal.number(window.origin_us) if window.origin_us else moment
    # The remainder is taken twice so that it is not negative before the epoch.
    inner = exp.paren(exp.Mod(this=exp.paren(shifted), expression=size) + size)
    since = exp.paren(exp.Mod(this=inner, expression=size.copy()))
    start = exp.Sub(this=moment.copy(), expression=since)
    end = exp.Add(this=start.copy(), expression=size.copy())
    return {
        WINDOW_START: exp.Anonymous(this="make_timestamp", expressions=[start]),
        WINDOW_END: exp.Anonymous(this="make_timestamp", expressions=[end]),
    }
