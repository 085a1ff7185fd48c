"""Conditions about now, as users of RisingWave and Materialize write them: ``ts > now() - INTERVAL '1 hour'``.

Now is the time of the stream: its watermark. A reading behind it is late and joins nothing, so one that came in time is
as young as that asks. In a join it says how long a reading waits for partners: ``SLIDING(stream, ts, INTERVAL '1
hour')``. Answers that were given stay given.
"""

from collections.abc import Mapping

from sqlglot import exp

from skerry.errors import SqlError
from skerry.lang.sql.clauses import conjuncts, list_items
from skerry.lang.sql.create_source import identifier
from skerry.lang.sql.statements import location_of
from skerry.lang.sql.streams import Streams
from skerry.lang.sql.time_bounds import bounds_of

__all__ = ["drop_temporal_filters"]

_NOW = ("NOW", "MZ_NOW", "PROCTIME", "GET_CURRENT_TIMESTAMP", "TRANSACTION_TIMESTAMP", "CURRENT_TIMESTAMP")
_CLOCK = -1


def drop_temporal_filters(tree: exp.Select, streams: Streams) -> exp.Select:
    """A SELECT whose WHERE does not ask about now; streams of a join have windows instead."""
    where = tree.args.get("where")
    if where is None or not any(_is_now(node) for node in where.walk()):
        return tree
    tree = tree.copy()
    tables = [holder.this for holder in list_items(tree) if isinstance(holder.this, exp.Table)]
    times = {number: time for number, table in enumerate(tables) if (time := _find_time(table, streams))}
    kept: list[exp.Expr] = []
    for part in conjuncts(tree.args["where"].this):
        if not any(_is_now(node) for node in part.walk()):
            kept.append(part)
            continue
        for number, span_us in _read(part, tables, times):
            if len(tables) > 1:
                _lay_sliding(tables[number], times[number], span_us)
    tree.set("where", exp.Where(this=exp.and_(*(part.copy() for part in kept), copy=False)) if kept else None)
    return tree


def _is_now(node: exp.Expr) -> bool:
    is_call = isinstance(node, exp.Anonymous) and node.name.upper() in _NOW
    return is_call or isinstance(node, exp.CurrentTimestamp)


def _find_time(table: exp.Table, streams: Streams) -> str | None:
    item = table.this.expressions[0] if isinstance(table.this, exp.Func) and table.this.expressions else table
    if not isinstance(item, exp.Table | exp.Column):
        return None
    source = streams.find(identifier(item))
    return None if source is None or source.is_table else source.event_time


def _read(part: exp.Expr, tables: list[exp.Table], times: Mapping[int, str]) -> list[tuple[int, int]]:
    """The streams that a condition is about, and how old their readings may be."""

    def find_time(column: exp.Column) -> int | None:
        if column.name == "#now":
            return _CLOCK
        for number, time in times.items():
            is_own = not column.table or column.table.lower() == tables[number].alias_or_name.lower()
            if is_own and identifier(column) == time:
                return number
        return None

    written = part.transform(lambda node: exp.column("#now", quoted=True) if _is_now(node) else node)
    bounds = bounds_of(written, find_time)
    known = {(one, other): most for one, other, most in bounds}
    if not known or any(_CLOCK not in pair for pair in known) or any(most < 0 for most in known.values()):
        message = "now() says how old readings may be: ts > now() - INTERVAL '1' HOUR, of the event time; nothing else"
        raise SqlError(message, location_of(part))
    return [(one, int(most)) for (one, other), most in known.items() if other == _CLOCK]


def _lay_sliding(table: exp.Table, time: str, span_us: int) -> None:
    if isinstance(table.this, exp.Func):
        return
    name = exp.column(table.this.copy())
    span = exp.Interval(this=exp.Literal.string(str(span_us)), unit=exp.var("MICROSECOND"))
    call = exp.Anonymous(this="SLIDING", expressions=[name, exp.column(time, quoted=True), span])
    for each in call.walk():
        each.meta.update(next((node.meta for node in table.walk() if "line" in node.meta), {}))
    alias = table.args.get("alias") or exp.TableAlias(this=table.this.copy())
    table.replace(exp.Table(this=call, alias=alias.copy()))
