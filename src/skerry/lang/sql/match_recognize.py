"""MATCH_RECOGNIZE: rows that follow on each other in a pattern.

    FROM s MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.ts AS opened, B.ts AS moved
      PATTERN (A N* B) WITHIN INTERVAL '5' MINUTE DEFINE A AS kind = 'open', ...) AS m

A query with it reads a relation of one row per match instead.
"""

from collections.abc import Sequence

from sqlglot import exp

from skerry.catalog import Source
from skerry.errors import SqlError
from skerry.lang.sql.clauses import from_of
from skerry.lang.sql.create_source import identifier, interval
from skerry.lang.sql.from_clause import stream
from skerry.lang.sql.pattern_text import read_pattern
from skerry.lang.sql.scalar import Scope
from skerry.lang.sql.sequence_definitions import Definitions
from skerry.lang.sql.sequence_measures import MeasureReader
from skerry.lang.sql.statements import location_of
from skerry.lang.sql.streams import Streams
from skerry.model.expression import Columns, Expression, columns_of
from skerry.model.time import Micros
from skerry.model.types import TIMESTAMP
from skerry.operators.pattern_program import count_steps
from skerry.plan.node import Node
from skerry.plan.pattern import End, Pattern, is_bounded, list_parts
from skerry.plan.project import Project
from skerry.plan.scan import Scan
from skerry.plan.sequences import Sequences
from skerry.plan.view import ViewPlan

__all__ = ["lay_pattern"]

_WITHIN = "#within"
_MOST_STEPS = 10_000
_MOST_SYMBOLS = 62
_SKIPS = {"": False, "PAST LAST ROW": False, "TO NEXT ROW": True}
_FORM = "PATTERN (A B) WITHIN INTERVAL '5' MINUTE"


def lay_pattern(tree: exp.Select, streams: Streams) -> exp.Select:
    """A SELECT that reads the matches in place of the rows."""
    asked = tree.args.get("match")
    if asked is None:
        return tree
    tree = tree.copy()
    tree.set("match", None)
    table = from_of(tree)
    if not isinstance(table, exp.Table) or isinstance(table.this, exp.Func) or tree.args.get("joins"):
        message = (
            "MATCH_RECOGNIZE goes with one stream by its name; join or window its matches around: FROM (SELECT ...)"
        )
        raise SqlError(message, location_of(table))
    alias = asked.args.get("alias")
    name = streams.make_name("match")
    streams.add(ViewPlan(name, _bind(asked, table, streams)))
    table.set("this", exp.to_identifier(name, quoted=True))
    table.set("alias", exp.TableAlias(this=alias.this.copy() if alias and alias.this else exp.to_identifier("match")))
    return tree


def _bind(asked: exp.MatchRecognize, table: exp.Table, streams: Streams) -> Node:
    source = stream(table, streams)
    pattern, symbols, span_us = _read_pattern(asked)
    time = _read_time(asked, source)
    keys = tuple(dict.fromkeys(_read_key(part, source) for part in asked.args.get("partition_by") or []))
    names = {source.name.lower(), table.alias_or_name.lower()}
    definitions = Definitions(symbols, Scope(source.name, source.schema), names)
    for part in asked.args.get("define") or []:
        if identifier(part.args["alias"]) != _WITHIN:
            definitions.add(identifier(part.args["alias"]), part.this)
    measures = MeasureReader(symbols, keys, definitions)
    columns = measures.read(asked.args.get("measures") or [])
    derived = definitions.bind()
    node = Sequences(
        _narrow(source, keys, time, definitions, derived),
        *(time, keys, symbols, pattern, asked.args["pattern"].name, definitions.conditions),
        *(tuple(definitions.comparisons), tuple(definitions.previous), derived, tuple(measures.measures)),
        *(span_us, _read_skip(asked)),
    )
    own = tuple((key, Expression.of(key, source.schema.field(key).type)) for key in keys)
    return Project(node, (*own, *measures.bind(columns, node.schema)))


def _narrow(source: Source, keys: Sequence[str], time: str, definitions: Definitions, derived: Columns) -> Node:
    """The columns that are asked for."""
    named = {name for _, expression in derived for name in columns_of(expression)}
    named |= {each.column for each in definitions.previous} | {time, *keys}
    fields = [field for field in source.schema if field.name in named]
    return Project(Scan(source), tuple((field.name, Expression.of(field.name, field.type)) for field in fields))


def _read_pattern(asked: exp.MatchRecognize) -> tuple[Pattern, tuple[str, ...], Micros | None]:
    location = location_of(asked)
    if asked.args.get("pattern") is None:
        raise SqlError(f"MATCH_RECOGNIZE needs a pattern: {_FORM}", location)
    if asked.args.get("rows") and not asked.args["rows"].name.startswith("ONE ROW"):
        raise SqlError("a match is one row: ONE ROW PER MATCH; ARRAY_AGG has the rows of windows", location)
    pattern, symbols = read_pattern(asked.args["pattern"].name, location)
    within = [each.this for each in asked.args.get("define") or [] if identifier(each.args["alias"]) == _WITHIN]
    span_us = interval(within[0]) if within else None
    if span_us is not None and span_us <= 0:
        raise SqlError("WITHIN is longer than zero", location)
    if span_us is None and _has_end(pattern):
        raise SqlError(
            f"$ is the end of WITHIN, which is not said: {_FORM[:-1]} $) WITHIN INTERVAL '5' MINUTE", location
        )
    if span_us is None and not is_bounded(pattern):
        message = "a match of this pattern may go on for ever; say how long it may take, PATTERN (...) WITHIN INTERVAL "
        raise SqlError(f"{message}'5' MINUTE, or how many rows it may have, as B{{1,10}} does", location)
    if count_steps(pattern) > _MOST_STEPS or len(symbols) > _MOST_SYMBOLS:
        raise SqlError(
            f"the pattern is too large: {_MOST_SYMBOLS} symbols and {_MOST_STEPS} steps at the most", location
        )
    return pattern, symbols, span_us


def _has_end(pattern: Pattern) -> bool:
    return isinstance(pattern, End) or any(map(_has_end, list_parts(pattern)))


def _read_skip(asked: exp.MatchRecognize) -> bool:
    text = asked.args["after"].name.removeprefix("AFTER MATCH SKIP").strip() if asked.args.get("after") else ""
    if text not in _SKIPS:
        message = f"AFTER MATCH SKIP {text} is not available; known are PAST LAST ROW and TO NEXT ROW"
        raise SqlError(message, location_of(asked))
    return _SKIPS[text]


def _read_time(asked: exp.MatchRecognize, source: Source) -> str:
    """The time that rows are ordered by."""
    order = asked.args.get("order")
    parts = order.expressions if order else []
    first = parts[0].this if len(parts) == 1 and not parts[0].args.get("desc") else None
    time = Scope(source.name, source.schema).find(first) if isinstance(first, exp.Column) else None
    if time is None or source.schema.field(time).type != TIMESTAMP or source.event_time not in (None, time):
        name = source.event_time or "ts"
        raise SqlError(f"MATCH_RECOGNIZE goes by the event time, ascending: ORDER BY {name}", location_of(asked))
    return time


def _read_key(part: exp.Expr, source: Source) -> str:
    if not isinstance(part, exp.Column):
        message = "PARTITION BY of MATCH_RECOGNIZE names columns; compute others in FROM (SELECT ...)"
        raise SqlError(message, location_of(part))
    return Scope(source.name, source.schema).find(part)
