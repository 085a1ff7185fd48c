"""Windows that GROUP BY or FROM says in the words of other systems, laid over the stream as they are here.

    FROM s GROUP BY k, TUMBLE(ts, size)            Flink before its windows stood in FROM
    FROM s GROUP BY k, TumblingWindow(minute, 1)   Azure Stream Analytics; ksqlDB's WINDOW TUMBLING is read as this
    FROM s GROUP BY k, window(ts, '1 minute')      Spark

all are ``FROM TUMBLE(s, ts, size) GROUP BY k, window_start, window_end``, and their names for a window's ends are
``window_start`` and ``window_end``.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from skerry.errors import SqlError
from skerry.lang.sql.clauses import list_items
from skerry.lang.sql.create_source import identifier
from skerry.lang.sql.statements import location_of
from skerry.lang.sql.streams import Streams
from skerry.model.dialect import parse_expression
from skerry.model.window import WINDOW_END, WINDOW_START
from skerry.plan.view import VIEW_CONNECTOR

__all__ = ["lay_spelled_window"]

_STARTS = ("TUMBLE_START", "HOP_START", "SESSION_START", "WINDOWSTART")
_ENDS = ("TUMBLE_END", "HOP_END", "SESSION_END", "WINDOWEND")
_LAST_MOMENTS = ("TUMBLE_ROWTIME", "HOP_ROWTIME", "SESSION_ROWTIME")
_LENGTHS = ("DURATION", "HOP", "OFFSET")
_SHORT = {"SS": "SECOND", "MI": "MINUTE", "HH": "HOUR", "DD": "DAY"}


@dataclass(frozen=True)
class _Spelled:
    """A window: its name here, the column that it goes by, if that is said, and its lengths in our order."""

    name: str
    time: exp.Expr | None
    spans: Sequence[exp.Expr]


def lay_spelled_window(tree: exp.Select, streams: Streams) -> exp.Select:
    """A SELECT with the window of its GROUP BY in FROM; as it is, if there is none."""
    group = tree.args.get("group")
    found = [(part, spelled) for part in (group.expressions if group else []) if (spelled := _read(part))]
    if not found:
        return tree
    if len(found) > 1:
        raise SqlError("a query has one window", location_of(found[1][0]))
    [(part, spelled)] = found
    tree = tree.copy()
    _lay(tree, spelled, streams, part)
    ends = [exp.column(WINDOW_START), exp.column(WINDOW_END)]
    group = tree.args["group"]
    group.set("expressions", [*(each for each in group.expressions if not _read(each)), *ends])
    written = tree.transform(_write_end, copy=False)
    assert isinstance(written, exp.Select)
    return written


def _lay(tree: exp.Select, spelled: _Spelled, streams: Streams, part: exp.Expr) -> None:
    tables = [holder.this for holder in list_items(tree) if isinstance(holder.this, exp.Table)]
    named = spelled.time.table.lower() if isinstance(spelled.time, exp.Column) else ""
    table = next(
        (each for each in tables if named and each.alias_or_name.lower() == named), tables[0] if tables else None
    )
    if table is None or isinstance(table.this, exp.Func):
        raise SqlError(f"{spelled.name} goes with a stream in FROM by its name", location_of(part))
    time = spelled.time.this if isinstance(spelled.time, exp.Column) else _find_time(table, streams)
    if time is None:
        message = f"a window over {identifier(table)!r} needs to name its time: FROM {spelled.name}(stream, time, ...)"
        raise SqlError(message, location_of(part))
    name = exp.column(table.this.copy())
    alias = table.args.get("alias") or exp.TableAlias(this=table.this.copy())
    call = exp.Anonymous(this=spelled.name, expressions=[name, exp.column(time), *spelled.spans])
    for each in (call, name, call.expressions[1]):
        each.meta.update(next((node.meta for node in part.walk() if "line" in node.meta), {}))
    table.replace(exp.Table(this=call, alias=alias.copy()))


def _find_time(table: exp.Table, streams: Streams) -> exp.Identifier | None:
    """The event time of a stream; of a view its time, if it has one alone."""
    source = streams.find(identifier(table))
    if source is None or source.is_table:
        return None
    times = [source.event_time] if source.event_time else []
    if source.connector == VIEW_CONNECTOR:
        times = streams.plan(identifier(table)).root.time_columns
    return exp.to_identifier(times[0], quoted=True) if len(times) == 1 else None


def _read(part: exp.Expr) -> _Spelled | None:
    if not isinstance(part, exp.Anonymous):
        return None
    read = _READERS.get(part.name.upper())
    return read(part.expressions) if read else None


def _read_flink(name: str, count: int) -> Callable[[Sequence[exp.Expr]], _Spelled | None]:
    """TUMBLE(ts, size), HOP(ts, slide, size)."""

    def read(arguments: Sequence[exp.Expr]) -> _Spelled | None:
        return _Spelled(name, arguments[0], arguments[1:]) if len(arguments) == count else None

    return read


def _read_azure(name: str, count: int) -> Callable[[Sequence[exp.Expr]], _Spelled | None]:
    """TumblingWindow(minute, 1), HoppingWindow(minute, 10, 5), or with durations; the size comes before the slide.

    One length more is the offset of the windows; of a session it is the longest that it may last, and is not kept.
    """

    def read(arguments: Sequence[exp.Expr]) -> _Spelled | None:
        times = [each for each in arguments if isinstance(each, exp.Anonymous) and each.name.upper() == "BY_TIME"]
        rest = [each for each in arguments if each not in times]
        written: list[exp.Expr | None]
        if (
            len(rest) > 1
            and isinstance(rest[0], exp.Column)
            and all(isinstance(each, exp.Literal) for each in rest[1:])
        ):
            written = [_make_span(each.name, rest[0].name) for each in rest[1:]]
        else:
            written = [_read_duration(each) for each in rest]
        spans = [each for each in written if each is not None]
        if len(spans) < len(written) or len(spans) not in (count, count + 1):
            return None
        offset = [] if name == "SESSION_WINDOW" else spans[count:]
        return _Spelled(name, times[0].expressions[0] if times else None, [*spans[:count][::-1], *offset])

    return read


def _read_duration(tree: exp.Expr) -> exp.Expr | None:
    """Duration(minute, 1), Hop(minute, 1), Offset(minute, 1), or an interval."""
    if not isinstance(tree, exp.Anonymous) or tree.name.upper() not in _LENGTHS or len(tree.expressions) != 2:
        return tree if isinstance(tree, exp.Interval) else None
    unit, count = tree.expressions
    sign, digits = ("-", count.this) if isinstance(count, exp.Neg) else ("", count)
    return _make_span(sign + digits.name, unit.name)


def _make_span(count: str, unit: str) -> exp.Expr:
    return exp.Interval(this=exp.Literal.string(count), unit=exp.var(_SHORT.get(unit.upper(), unit)))


def _read_spark(arguments: Sequence[exp.Expr]) -> _Spelled | None:
    """window(ts, '10 minutes', '5 minutes', '1 minute'): the size comes before the slide, the offset last."""
    spans = [_read_text(each) for each in arguments[1:] if isinstance(each, exp.Literal | exp.Interval)]
    if len(spans) + 1 != len(arguments) or len(spans) not in (1, 2, 3):
        return None
    return _Spelled("TUMBLE" if len(spans) == 1 else "HOP", arguments[0], [*spans[:2][::-1], *spans[2:]])


def _read_text(tree: exp.Expr) -> exp.Expr:
    """'10 minutes', or an interval."""
    return tree if isinstance(tree, exp.Interval) else exp.Interval(this=tree.copy())


def _read_spark_session(arguments: Sequence[exp.Expr]) -> _Spelled | None:
    found = _read_spark(arguments)
    return _Spelled("SESSION_WINDOW", found.time, found.spans) if found and found.name == "TUMBLE" else None


_READERS: dict[str, Callable[[Sequence[exp.Expr]], _Spelled | None]] = {
    "HOP": _read_flink("HOP", 3),
    "HOPPINGWINDOW": _read_azure("HOP", 2),
    "SESSIONWINDOW": _read_azure("SESSION_WINDOW", 1),
    "SESSION_WINDOW": _read_spark_session,
    "TUMBLE": _read_flink("TUMBLE", 2),
    "TUMBLINGWINDOW": _read_azure("TUMBLE", 1),
    "WINDOW": _read_spark,
}


def _write_end(node: exp.Expr) -> exp.Expr:
    """An end of the window under its name here."""
    made = _find_end(node)
    if made is not None:
        made.meta.update(next((part.meta for part in node.walk() if "line" in part.meta), {}))
    return node if made is None else made


def _find_end(node: exp.Expr) -> exp.Expr | None:
    if isinstance(node, exp.Anonymous):
        name = node.name.upper()
        if name in _STARTS:
            return exp.column(WINDOW_START)
        if name in _ENDS or (name == "TIMESTAMP" and node.expressions and node.expressions[0].name.upper() == "SYSTEM"):
            return exp.column(WINDOW_END)
        if name in _LAST_MOMENTS:
            return exp.Paren(this=exp.column(WINDOW_END) - parse_expression("INTERVAL '1' MILLISECOND"))
        if name == "WINDOW" and _read_spark(node.expressions):
            return parse_expression(f'struct_pack(start := {WINDOW_START}, "end" := {WINDOW_END})')
    if isinstance(node, exp.Column) and isinstance(node.this, exp.Identifier):
        name = node.name.upper()
        if node.table.upper() == "WINDOW" and name in ("START", "END"):
            return exp.column(WINDOW_START if name == "START" else WINDOW_END)
        if not node.table and name in ("WINDOWSTART", "WINDOWEND"):
            return exp.column(WINDOW_START if name == "WINDOWSTART" else WINDOW_END)
    return None
