"""GATHER in FROM: a join of as many sensors as agree."""

from collections.abc import Sequence

from sqlglot import exp

from skerry.catalog import Source
from skerry.errors import SqlError, UnknownStream
from skerry.lang.sql.common_type import common_type
from skerry.lang.sql.create_source import identifier, interval
from skerry.lang.sql.from_clause import call_name, stream
from skerry.lang.sql.named_arguments import read_named_arguments, read_truth
from skerry.lang.sql.scalar import Scope, scalar
from skerry.lang.sql.statements import location_of
from skerry.lang.sql.streams import Streams
from skerry.model.dialect import write_expression
from skerry.model.expression import Expression
from skerry.model.types import sql_name
from skerry.plan.gather import Gather
from skerry.plan.node import Node
from skerry.plan.project import Project
from skerry.plan.scan import Scan

__all__ = ["gather_node", "is_gather"]

_FORM = "GATHER(stream, key => column, across => sensor, within => INTERVAL '60' SECOND, min_arity => 2)"
_KNOWN = ("key", "across", "within", "min_arity", "flatten")
_MOST_SENSORS = 1_000_000


def is_gather(table: exp.Expr) -> bool:
    """Whether an item of FROM is a call of GATHER."""
    return isinstance(table, exp.Table) and isinstance(table.this, exp.Func) and call_name(table.this) == "GATHER"


def gather_node(table: exp.Expr, streams: Streams, *, early: bool, limit: int) -> tuple[Node, Scope]:
    """Bind a call of GATHER; give its node, and the names that may be used above it."""
    call = table.this
    if not call.expressions or any(isinstance(part, exp.Kwarg) for part in call.expressions[:1]):
        raise SqlError(f"GATHER begins with a stream: {_FORM}", location_of(call))
    given = read_named_arguments("GATHER", call, call.expressions[1:], _KNOWN)
    sources = _sources(call.expressions[0], streams)
    family = isinstance(call.expressions[0], exp.Literal)
    if "across" not in given and not family:
        raise SqlError(f"GATHER needs across => the column that tells sensors apart: {_FORM}", location_of(call))
    for name in ("key", "within"):
        if name not in given:
            raise SqlError(f"GATHER needs {name} => ...: {_FORM}", location_of(call))
    node = Gather(
        _relations(sources, given["key"], given.get("across")),
        "key",
        "sensor",
        "ts",
        interval(given["within"]),
        _number(given.get("min_arity")),
        early,
        read_truth("flatten", given.get("flatten")),
        limit,
    )
    if node.span_us < 0:
        raise SqlError("GATHER cannot look into the future: within is negative", location_of(call))
    alias = table.args.get("alias")
    return node, Scope(identifier(alias.this) if alias else "gather", node.schema)


def _sources(named: exp.Expr, streams: Streams) -> list[Source]:
    """The stream, or all streams that a pattern in quotes fits."""
    if not isinstance(named, exp.Literal):
        return [stream(named, streams)]
    found = streams.family(named.name)
    if not found:
        raise UnknownStream(named.name, streams.known, location_of(named))
    return found


def _relations(sources: Sequence[Source], key: exp.Expr, across: exp.Expr | None) -> tuple[Node, ...]:
    """The key, the sensor and the time of each stream, in the same types."""
    found = []
    for source in sources:
        if source.event_time is None:
            raise SqlError(
                f"stream {source.name!r} needs a time to be gathered: declare WATERMARK FOR", location_of(key)
            )
        scope = Scope(source.name, source.schema)
        named = across if across is not None else exp.Literal.string(source.name)
        moment = Expression.of(source.event_time, source.schema.field(source.event_time).type)
        found.append((scope, [key, named], [scalar(key, scope), scalar(named, scope)], moment))
    wanted = [common_type([bound[position].type for _, _, bound, _ in found]) for position in (0, 1)]
    relations = []
    for (scope, trees, bound, moment), source in zip(found, sources, strict=True):
        columns = []
        for name, tree, expression, type_ in zip(("key", "sensor"), trees, bound, wanted, strict=True):
            if type_ is None:
                raise SqlError(f"the streams of GATHER differ in the type of their {name}", location_of(tree))
            if expression.type != type_:
                expression = scalar(exp.cast(tree.copy(), sql_name(type_), dialect="duckdb"), scope)
            columns.append((name, expression))
        relations.append(Project(Scan(source), (*columns, ("ts", moment))))
    return tuple(relations)


def _number(written: exp.Expr | None) -> int:
    if written is None:
        return 1
    if (
        not isinstance(written, exp.Literal)
        or not written.name.isdigit()
        or not 1 <= int(written.name) <= _MOST_SENSORS
    ):
        raise SqlError(f"min_arity is a number from 1, got {write_expression(written)}", location_of(written))
    return int(written.name)
