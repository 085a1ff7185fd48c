"""WITH (fallback='pair'): views that take readings of other sensors in place of those of silent ones."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pyarrow as pa
from sqlglot import exp

from skerry.catalog import Source
from skerry.catalog.stand_ins import FALLBACKS, find_stand_ins
from skerry.errors import OptionError
from skerry.lang.sql.from_clause import From
from skerry.lang.sql.scalar import Scope, condition
from skerry.lang.sql.streams import Streams
from skerry.model.dialect import write_expression
from skerry.model.options import Option, Owner, one_of, parse_options, span_of_time, text
from skerry.model.time import MICROS, Micros
from skerry.plan.fallback import Fallback, StandIns
from skerry.plan.node import Node
from skerry.plan.scan import Scan
from skerry.plan.select import Select
from skerry.plan.view import VIEW_CONNECTOR

__all__ = ["FALLBACK_OPTIONS", "add_taken_by", "fallback_node", "refuse_fallback"]

_SENSOR = "sensor"
_MISSED = 3
"""A sensor is silent when it has missed so many readings."""
FALLBACK_OPTIONS = (
    Option("fallback", one_of(*FALLBACKS), help="Who stands in for a sensor that is silent."),
    Option("fallback_after", span_of_time(1, MICROS["DAY"]), help="How long a silent sensor is waited for."),
    Option("taken_by", text(), help="A column for the sensor that took a reading, with fallback."),
)


def refuse_fallback(options: Mapping[str, str], what: str) -> None:
    """Refuse the options beside what they do not go with."""
    given = next((option.name for option in FALLBACK_OPTIONS if option.name in options), None)
    if given:
        message = f"option {given!r} is for a view that reads one source, not for {what}"
        raise OptionError(f"{message}; make a view with it, and read that one")


def add_taken_by(read: From, options: Mapping[str, str]) -> From:
    """What FROM names, with the column that says who took a reading, if it is asked for."""
    asked = _parse(options)
    if asked["fallback"] is None or asked["taken_by"] is None:
        return read
    name = asked["taken_by"].lower()
    if any(each.lower() == name for each in read.source.schema.names):
        raise OptionError(f"option taken_by is {name!r}, and {read.source.name!r} has a column of that name")
    return replace(read, source=replace(read.source, schema=read.source.schema.append(pa.field(name, pa.string()))))


def fallback_node(
    scan: Scan, where: exp.Expr | None, scope: Scope, streams: Streams, options: Mapping[str, str]
) -> Node:
    """What a view reads: the source, with readings that stand in for those of silent sensors if it says so."""
    asked = _parse(options)
    if asked["fallback"] is None:
        _refuse_alone(options)
        return scan
    time, names = _check_source(scan.source), _list_named(where, scope)
    stand_ins = find_stand_ins(asked["fallback"], streams.sensors(scan.source.name), names)
    if not stand_ins:
        raise OptionError(_explain_none(scan.source.name, asked["fallback"], names))
    concerned = {*stand_ins, *(other for others in stand_ins.values() for other in others)}
    limits = _find_limits(scan.source, concerned, streams, asked["fallback_after"])
    taken_by = None if asked["taken_by"] is None else asked["taken_by"].lower()
    found = tuple(StandIns(name, tuple(others)) for name, others in sorted(stand_ins.items()))
    below = scan if names is None else _keep_only(scan, concerned | names)
    return Fallback(below, time, _SENSOR, found, limits, taken_by)


def _parse(options: Mapping[str, str]) -> dict[str, Any]:
    given = {option.name: options[option.name] for option in FALLBACK_OPTIONS if option.name in options}
    return parse_options(given, FALLBACK_OPTIONS, Owner("a view"))


def _refuse_alone(options: Mapping[str, str]) -> None:
    given = next((option.name for option in FALLBACK_OPTIONS if option.name in options), None)
    if given:
        raise OptionError(f"option {given!r} goes with fallback = 'pair', 'replaces' or 'similar'")


def _check_source(source: Source) -> str:
    """The time of a source whose sensors others can stand in for."""
    if source.connector == VIEW_CONNECTOR:
        message = f"fallback is for views of a source, and {source.name!r} is a view"
        raise OptionError(f"{message}; give that one the option")
    if source.event_time is None or source.delay_us is None:
        raise OptionError(f"fallback goes by the watermark of {source.name!r}; declare WATERMARK FOR ts AS ts")
    if _SENSOR not in source.schema.names or source.schema.field(_SENSOR).type != pa.string():
        raise OptionError(f"fallback goes by the sensors of {source.name!r}; it needs a VARCHAR column {_SENSOR!r}")
    return source.event_time


def _list_named(where: exp.Expr | None, scope: Scope) -> set[str] | None:
    """The sensors that a condition names, None if it may be true of any."""
    if where is None:
        return None
    tree = where.unnest()
    for part in tree.flatten() if isinstance(tree, exp.And) else [tree]:
        if (found := _read_names(part.unnest(), scope)) is not None:
            return found
    return None


def _read_names(part: exp.Expr, scope: Scope) -> set[str] | None:
    """The names in ``sensor = 'a'`` or ``sensor IN ('a', 'b')``."""
    sides = [part.this, part.expression] if isinstance(part, exp.EQ) else [part.this, *part.args.get("expressions", ())]
    if not isinstance(part, exp.EQ | exp.In) or part.args.get("query") or len(sides) < 2:
        return None
    columns = [each for each in sides if isinstance(each, exp.Column)]
    names = [each.name for each in sides if isinstance(each, exp.Literal) and each.is_string]
    is_of_sensor = len(columns) == 1 and scope.find(columns[0]) == _SENSOR
    return set(names) if is_of_sensor and len(names) == len(sides) - 1 else None


def _explain_none(source: str, way: str, names: set[str] | None) -> str:
    whom = f"sensors of {source!r}" if names is None else ", ".join(map(repr, sorted(names)))
    means = {"pair": "is the pair of", "replaces": "replaces", "similar": "is like"}[way]
    return f"fallback = {way!r}: the catalogue knows of no sensor that {means} {whom}; skerry sensors import tells it"


def _find_limits(
    source: Source, names: set[str], streams: Streams, after_us: Micros | None
) -> tuple[tuple[str, Micros], ...]:
    """How long each sensor may be silent: as the view says, or by how often it takes readings."""
    if after_us is not None:
        return tuple((name, after_us) for name in sorted(names))
    periods = dict(streams.sample_periods(source.name))
    found = {name: periods.get(name, source.sample_period_us) for name in sorted(names)}
    unknown = [name for name, period_us in found.items() if period_us is None]
    if unknown:
        message = f"fallback needs to know how often {unknown[0]!r} takes a reading, to know when it is silent"
        raise OptionError(f"{message}; write fallback_after = '30s', or declare the source WITH (sample_period='1s')")
    return tuple((name, Micros(_MISSED * period_us)) for name, period_us in found.items() if period_us is not None)


def _keep_only(scan: Scan, names: set[str]) -> Node:
    """The readings of some sensors: no others can be among the answers, or stand in for those that are."""
    column = exp.column(_SENSOR)
    asked = exp.In(this=column, expressions=[exp.Literal.string(name) for name in sorted(names)])
    bound = condition(asked, Scope(scan.source.name, scan.source.schema))
    return Select(scan, bound, write_expression(asked))
