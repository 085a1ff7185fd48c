"""SILENCE in FROM: sensors that have not been heard for a while, as a stream of events."""

from sqlglot import exp

from skerry.catalog import Source
from skerry.errors import SqlError
from skerry.lang.sql.create_source import identifier, interval
from skerry.lang.sql.from_clause import call_name, stream, time_column
from skerry.lang.sql.named_arguments import read_named_arguments, read_truth
from skerry.lang.sql.scalar import Scope, condition, scalar
from skerry.lang.sql.statements import location_of
from skerry.lang.sql.streams import Streams
from skerry.model.dialect import write_expression
from skerry.model.expression import Expression
from skerry.model.time import MICROS, Micros
from skerry.plan.node import Node
from skerry.plan.project import Project
from skerry.plan.scan import Scan
from skerry.plan.select import Select
from skerry.plan.silence import LAST_TS, TS, UNTIL, Silence
from skerry.plan.view import VIEW_CONNECTOR

__all__ = ["is_silence", "silence_node"]

_FORM = "SILENCE(stream, ts, INTERVAL '30' SECOND, across => sensor)"
_KNOWN = ("across", "returns", "forget_after")
_DAY = Micros(MICROS["DAY"])
_TIME = "_time"


def is_silence(table: exp.Expr) -> bool:
    """Whether an item of FROM is a call of SILENCE."""
    return isinstance(table, exp.Table) and isinstance(table.this, exp.Func) and call_name(table.this) == "SILENCE"


def silence_node(table: exp.Expr, streams: Streams) -> tuple[Node, Scope]:
    """Bind a call of SILENCE; give its node, and the names that may be used above it."""
    call = table.this
    source, time, gap_us = _read_positional(call, streams)
    named = [part for part in call.expressions if isinstance(part, exp.Kwarg)]
    given = read_named_arguments("SILENCE", call, named, _KNOWN)
    returns = read_truth("returns", given.get("returns"))
    forget_us = interval(given["forget_after"]) if "forget_after" in given else _DAY
    if "forget_after" in given and not returns:
        message = "forget_after is how long a silent sensor is remembered for its return; write returns => TRUE too"
        raise SqlError(f"SILENCE: {message}", location_of(call))
    if returns and forget_us < gap_us:
        raise SqlError("SILENCE: forget_after is shorter than the silence itself", location_of(call))
    below, keys = _read_sensor(given.get("across"), source, time)
    node = Silence(below, _TIME, keys, gap_us, returns, forget_us)
    alias = table.args.get("alias")
    return node, Scope(identifier(alias.this) if alias else "silence", node.schema)


def _read_positional(call: exp.Func, streams: Streams) -> tuple[Source, str, Micros]:
    """The stream, its time, and how long a silence is."""
    positional = [part for part in call.expressions if not isinstance(part, exp.Kwarg)]
    if len(positional) != 3 or not isinstance(positional[0], exp.Column) or positional[0].table:
        raise SqlError(f"SILENCE has a stream, its time and an interval: {_FORM}", location_of(call))
    source = stream(positional[0], streams)
    time, gap_us = time_column(call, source, positional[1]), interval(positional[2])
    if source.event_time is None and source.connector != VIEW_CONNECTOR:
        message = f"SILENCE goes by the watermark of {source.name!r}; declare WATERMARK FOR {time} AS {time}"
        raise SqlError(f"{message} - INTERVAL '5' SECOND", location_of(call))
    if gap_us <= 0:
        raise SqlError("a silence lasts longer than zero", location_of(call))
    return source, time, gap_us


def _read_sensor(across: exp.Expr | None, source: Source, time: str) -> tuple[Node, tuple[str, ...]]:
    """The readings with their time and sensor, and what the column of the sensor is called."""
    moment = (_TIME, Expression.of(time, source.schema.field(time).type))
    if across is None:
        return Project(Scan(source), (moment,)), ()
    scope = Scope(source.name, source.schema)
    name = scope.find(across) if isinstance(across, exp.Column) and not isinstance(across.this, exp.Star) else "sensor"
    name = "sensor" if name in (LAST_TS, TS, UNTIL, _TIME) else name
    known = exp.Not(this=exp.Is(this=exp.paren(across.copy()), expression=exp.Null()))
    heard = Select(Scan(source), condition(known, scope), f"{write_expression(across)} IS NOT NULL")
    return Project(heard, (moment, (name, scalar(across, scope)))), (name,)
