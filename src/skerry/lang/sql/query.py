"""SELECT over one stream: selections, projections, window aggregates."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import pyarrow as pa
from sqlglot import exp

from skerry.catalog import Source
from skerry.errors import InputError, SqlError, UnknownStream
from skerry.lang.sql.aggregates import AggregateBinder
from skerry.lang.sql.declare import identifier, interval
from skerry.lang.sql.reading import place_of
from skerry.lang.sql.scalar import Scope, scalar
from skerry.model.types import TIMESTAMP, sql_name
from skerry.model.window import Window
from skerry.operators.aggregate import WINDOW_END, WINDOW_START
from skerry.operators.derive import Expression
from skerry.plan.nodes import Node, Project, Scan, Select

__all__ = ["query_plan"]

_KNOWN = ("expressions", "from_", "from", "where", "group", "having")
_LATER = {
    "joins": "a join",
    "order": "ORDER BY",
    "limit": "LIMIT",
    "offset": "OFFSET",
    "distinct": "SELECT DISTINCT",
    "with_": "WITH",
    "with": "WITH",
    "qualify": "QUALIFY",
    "windows": "WINDOW",
    "laterals": "LATERAL",
    "sample": "TABLESAMPLE",
    "into": "INTO",
    "connect": "CONNECT BY",
    "pivots": "PIVOT",
}


@dataclass(frozen=True)
class From:
    """What a query reads: a source, under a name, and the window laid over it."""

    source: Source
    name: str
    window: Window | None = None
    time: str | None = None
    rewrites: Mapping[str, exp.Expr] = field(default_factory=dict)

    @property
    def scope(self) -> Scope:
        """The names an expression may use."""
        return Scope(self.name, self.source.schema, self.rewrites)


def query_plan(tree: exp.Expr, streams: Mapping[str, Source]) -> Node:
    """Bind a SELECT to the catalogue's streams."""
    if not isinstance(tree, exp.Select):
        raise SqlError(f"a view is made of one SELECT; this is {type(tree).__name__.upper()}", place_of(tree))
    for argument, told in _LATER.items():
        if tree.args.get(argument):
            part = tree.args[argument]
            raise SqlError(
                f"{told} is not available in a view",
                place_of(part[0] if isinstance(part, list) else part) or place_of(tree),
            )
    unknown = [argument for argument, part in tree.args.items() if part and argument not in _KNOWN]
    if unknown:
        raise SqlError(f"{unknown[0].upper()} is not available in a view", place_of(tree))
    if not tree.selects:
        raise SqlError("a view needs columns: SELECT column, ... FROM stream", place_of(tree))
    read = _read(tree, streams)
    node: Node = Scan(read.source)
    where = tree.args.get("where")
    if where:
        node = _selected(node, where.this, read.scope)
    if tree.args.get("group") or tree.args.get("having") or any(part.find(exp.AggFunc) for part in tree.selects):
        return _aggregated(tree, node, read)
    if read.window and not read.window.tumbling:
        raise SqlError("HOP puts a reading into several windows; aggregate over it, or read the stream", place_of(tree))
    return Project(node, _columns(tree, read.scope))


def _selected(node: Node, predicate: exp.Expr, scope: Scope) -> Node:
    bound = scalar(predicate, scope)
    _check_condition(bound, predicate)
    return Select(node, bound, predicate.sql("risingwave"))


def _check_condition(bound: Expression, predicate: exp.Expr) -> None:
    if bound.type != pa.bool_():
        raise SqlError(f"a condition must be BOOLEAN; this is {sql_name(bound.type)}", place_of(predicate))


def _columns(tree: exp.Select, scope: Scope) -> tuple[tuple[str, Expression], ...]:
    found: list[tuple[str, Expression]] = []
    for place, part in enumerate(tree.selects, 1):
        if isinstance(part, exp.Star) or (isinstance(part, exp.Column) and isinstance(part.this, exp.Star)):
            if part.args.get("except_") or part.args.get("replace"):
                raise SqlError("* cannot leave columns out here", place_of(tree))
            if isinstance(part, exp.Column):
                scope.check_table(part)
            found += [(name, Expression.of(name, scope.schema.field(name).type)) for name in scope.schema.names]
        else:
            found.append((output_name(part, place), scalar(part.unalias(), scope)))
    return tuple(found)


def output_name(part: exp.Expr, place: int) -> str:
    """The name of an answer's column: its alias, its column, its function, or its place."""
    if isinstance(part, exp.Alias):
        return identifier(part.args["alias"])
    if isinstance(part, exp.Column):
        return identifier(part)
    if isinstance(part, exp.Func) and not isinstance(part, exp.Anonymous):
        return part.sql_name().lower()
    return part.name.lower() if isinstance(part, exp.Anonymous) else f"column{place}"


def _aggregated(tree: exp.Select, node: Node, read: From) -> Node:
    if read.window is None or read.time is None:
        raise SqlError(
            f"an aggregate over a stream needs a window: FROM TUMBLE({read.name}, time, INTERVAL '30' SECOND)",
            place_of(tree),
        )
    binder = AggregateBinder(tree, Scope(read.name, read.source.schema))
    aggregate = binder.aggregate(node, read.window, read.time)
    columns = tuple(
        (output_name(part, place), binder.over_groups(part.unalias(), aggregate.schema))
        for place, part in enumerate(tree.selects, 1)
    )
    having = tree.args.get("having")
    if having:
        predicate = binder.over_groups(having.this, aggregate.schema)
        _check_condition(predicate, having.this)
        return Project(Select(aggregate, predicate, having.this.sql("risingwave")), columns)
    return Project(aggregate, columns)


def _read(tree: exp.Select, streams: Mapping[str, Source]) -> From:
    clause = tree.args.get("from_") or tree.args.get("from")
    if clause is None:
        raise SqlError("a view needs FROM", place_of(tree))
    table = clause.this
    if not isinstance(table, exp.Table):
        raise SqlError("a view reads one stream; this is a subquery", place_of(table) or place_of(tree))
    extra = [argument for argument, part in table.args.items() if part and argument not in ("this", "alias")]
    if extra or table.alias_column_names:
        raise SqlError("a view reads a stream by its name alone: FROM stream AS alias", place_of(table))
    alias = identifier(table.args["alias"].this) if table.args.get("alias") else None
    if not isinstance(table.this, exp.Func):
        source = _stream(table, streams)
        return From(source, alias or source.name)
    return _windowed(table.this, alias, streams)


def _stream(named: exp.Expr, streams: Mapping[str, Source]) -> Source:
    name = identifier(named)
    if name not in streams:
        raise UnknownStream(name, streams, place_of(named))
    return streams[name]


def _windowed(call: exp.Func, alias: str | None, streams: Mapping[str, Source]) -> From:
    """TUMBLE(stream, time, size) or HOP(stream, time, slide, size)."""
    name = call.name.upper() if isinstance(call, exp.Anonymous) else call.sql_name()
    wanted = {"TUMBLE": 3, "HOP": 4}
    if name not in wanted:
        raise SqlError(f"{name} is not available as a window; known are TUMBLE, HOP", place_of(call))
    arguments = call.expressions
    if len(arguments) != wanted[name]:
        form = "TUMBLE(stream, time, size)" if name == "TUMBLE" else "HOP(stream, time, slide, size)"
        raise SqlError(f"{name} has {wanted[name]} arguments, got {len(arguments)}: {form}", place_of(call))
    if not isinstance(arguments[0], exp.Column) or arguments[0].table:
        raise SqlError(f"the first argument of {name} is a stream", place_of(call))
    source = _stream(arguments[0], streams)
    time = Scope(source.name, source.schema).find(arguments[1]) if isinstance(arguments[1], exp.Column) else None
    if time is None or source.schema.field(time).type != TIMESTAMP:
        raise SqlError(f"the second argument of {name} is a TIMESTAMP column", place_of(call))
    if source.event_time not in (None, time):
        raise SqlError(
            f"{name} goes by {time!r}, but the watermark of {source.name!r} by {source.event_time!r}", place_of(call)
        )
    spans = [interval(argument) for argument in arguments[2:]]
    try:
        window = Window(spans[-1], spans[0])
    except InputError as error:
        raise SqlError(str(error), place_of(call)) from None
    return From(source, alias or source.name, window, time, _window_columns(window, time))


def _window_columns(window: Window, time: str) -> dict[str, exp.Expr]:
    """The window of a reading as expressions over its time, where it is in one window only."""
    if not window.tumbling:
        return {}
    moment = exp.func("epoch_us", exp.column(time, quoted=True), dialect="duckdb")
    size = exp.Literal.number(int(window.size_us))
    # The remainder is taken twice so that it is not negative before the epoch.
    since = exp.paren(exp.Mod(this=exp.paren(exp.Mod(this=moment, expression=size) + size), expression=size.copy()))
    start = exp.Sub(this=moment.copy(), expression=since)
    end = exp.Add(this=start.copy(), expression=size.copy())
    return {
        WINDOW_START: exp.func("make_timestamp", start, dialect="duckdb"),
        WINDOW_END: exp.func("make_timestamp", end, dialect="duckdb"),
    }
