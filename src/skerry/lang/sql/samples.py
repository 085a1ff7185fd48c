"""EXPECTED_SAMPLES, RECEIVED_SAMPLES, COMPLETENESS and silent_rows: what a window should have, and what it has."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from sqlglot import exp

from skerry.errors import OptionError, SqlError
from skerry.lang.sql.from_clause import From
from skerry.lang.sql.statements import location_of
from skerry.lang.sql.streams import Streams
from skerry.model.options import Option, Owner, parse_options, span_of_time, truth_value
from skerry.model.sampling import Sampling
from skerry.model.time import MICROS, Micros, describe_interval
from skerry.model.window import Window
from skerry.plan.sampled_aggregate import COMPLETENESS, EXPECTED, RECEIVED
from skerry.plan.view import VIEW_CONNECTOR

__all__ = ["SAMPLE_OPTIONS", "Samples", "asks_for_samples", "find_sample_call", "read_samples", "refuse_samples"]

_COLUMNS = {"expected_samples": EXPECTED, "received_samples": RECEIVED, "completeness": COMPLETENESS}
"""The functions, and the columns of the aggregate that they stand for."""
_SENSOR = "sensor"
SAMPLE_OPTIONS = (
    Option("silent_rows", truth_value(), "false", "Whether windows without readings of known sensors have rows."),
    Option("forget_after", span_of_time(0, 36_500 * MICROS["DAY"]), "1 day", "How long a silent sensor is expected."),
)
_FORM = "FROM TUMBLE(stream, ts, INTERVAL '30' SECOND) GROUP BY sensor, window_start"


@dataclass(frozen=True)
class Samples:
    """What an aggregate needs to know of its samples: who sends them, how often, and for how long they are expected."""

    sensor: exp.Column
    period_us: Micros | None
    periods: tuple[tuple[str, Micros], ...]
    forget_us: Micros
    silent_rows: bool


def find_sample_call(node: exp.Expr) -> str | None:
    """The column of the aggregate that a function stands for, if it is one of these.

    >>> find_sample_call(exp.Anonymous(this="RECEIVED_SAMPLES"))
    '_received'
    """
    return _COLUMNS.get(node.name.lower()) if isinstance(node, exp.Anonymous) else None


def asks_for_samples(tree: exp.Select) -> bool:
    """Whether a SELECT names one of the functions."""
    return bool(_list_calls(tree))


def refuse_samples(tree: exp.Select, options: Mapping[str, str], what: str) -> None:
    """Refuse the functions and options beside what they do not go with."""
    for call in _list_calls(tree):
        raise SqlError(f"{call.name.upper()} is for aggregates over TUMBLE and HOP, not for {what}", location_of(call))
    given = next((option.name for option in SAMPLE_OPTIONS if option.name in options), None)
    if given:
        raise OptionError(f"option {given!r} is for aggregates over TUMBLE and HOP, not for {what}")


def read_samples(tree: exp.Select, read: From, streams: Streams, options: Mapping[str, str]) -> Samples | None:
    """What an aggregate over a window of one stream is asked of samples; None if nothing."""
    calls = _list_calls(tree)
    given = {option.name: options[option.name] for option in SAMPLE_OPTIONS if option.name in options}
    found = parse_options(given, SAMPLE_OPTIONS, Owner("a view"))
    if not calls and not found["silent_rows"]:
        if "forget_after" in given:
            raise OptionError("option 'forget_after' goes with silent_rows = 'true', EXPECTED_SAMPLES or COMPLETENESS")
        return None
    if not isinstance(read.window, Window):
        refuse_samples(tree, options, "SESSION_WINDOW: a session has no length of its own")
    if found["silent_rows"] and read.source.event_time is None and read.source.connector != VIEW_CONNECTOR:
        raise OptionError(f"silent_rows goes by the watermark of {read.source.name!r}; declare WATERMARK FOR ts AS ts")
    for call in calls:
        if call.find_ancestor(exp.AggFunc):
            raise SqlError(f"{call.name.upper()} cannot stand inside an aggregate", location_of(call))
    sensor = _find_sensor(calls, read)
    own_us = Sampling.parse(options, Owner("a view")).period_us
    if own_us is not None:  # what the view asks of its sensors is what it expects of them
        read = replace(read, source=replace(read.source, sample_period_us=own_us))
    periods = _find_periods(calls, read, streams, is_own=own_us is not None)
    return Samples(sensor, read.source.sample_period_us, periods, found["forget_after"], found["silent_rows"])


def _list_calls(tree: exp.Select) -> list[exp.Anonymous]:
    having = tree.args.get("having")
    parts = [*tree.selects, *([having] if having else [])]
    return [call for part in parts for call in part.find_all(exp.Anonymous) if find_sample_call(call)]


def _find_sensor(calls: list[exp.Anonymous], read: From) -> exp.Column:
    """The column that tells sensors apart: the argument of the functions, or the column that is called so."""
    named: dict[str, Any] = {}
    for call in calls:
        if len(call.expressions) > 1 or not all(isinstance(part, exp.Column) for part in call.expressions):
            message = f"{call.name.upper()} takes the column that tells sensors apart, or none"
            raise SqlError(f"{message}: {call.name.upper()}() goes by the column {_SENSOR!r}", location_of(call))
        written = call.expressions[0] if call.expressions else exp.column(_SENSOR)
        if not call.expressions and not read.scope.has(written):
            message = f"{read.source.name!r} has no column {_SENSOR!r}; name the one that tells its sensors apart"
            raise SqlError(f"{message}: {call.name.upper()}(column)", location_of(call))
        named.setdefault(read.scope.find(written), written)
    if len(named) > 1:
        raise SqlError(f"a view counts samples by one column, not by {' and '.join(named)}", location_of(calls[-1]))
    if not named and not read.scope.has(exp.column(_SENSOR)):
        message = f"silent_rows needs to tell sensors apart, and {read.source.name!r} has no column {_SENSOR!r}"
        raise OptionError(f"{message}; select RECEIVED_SAMPLES(column) to name another")
    found = next(iter(named.values()), exp.column(_SENSOR))
    assert isinstance(found, exp.Column)
    return found


def _find_periods(
    calls: list[exp.Anonymous], read: From, streams: Streams, *, is_own: bool
) -> tuple[tuple[str, Micros], ...]:
    """How often single sensors take samples by the catalogue, unless the view says it; refuse what nobody knows."""
    counting = next((call for call in calls if find_sample_call(call) != RECEIVED), None)
    if counting is None:
        return ()
    source, window = read.source, read.window
    periods = () if is_own else streams.sample_periods(source.name)
    if source.sample_period_us is None and not periods:
        message = f"{counting.name.upper()} needs to know how often a sensor of {source.name!r} takes a sample"
        raise SqlError(f"{message}; declare the source WITH (sample_period='1s')", location_of(counting))
    assert isinstance(window, Window)
    if source.sample_period_us is not None and source.sample_period_us > window.size_us:
        often, size = describe_interval(source.sample_period_us), describe_interval(window.size_us)
        message = f"no sample is certain in a window of {size}: sensors of {source.name!r} take one every {often}"
        raise SqlError(f"{message}; take a longer window", location_of(counting))
    return periods
