"""Functions of time that DuckDB has under another name, or whose units and formats are written otherwise there."""

import re
from collections.abc import Callable, Mapping, Sequence

from sqlglot import exp

from skerry.errors import SqlError
from skerry.model.dialect import parse_expression
from skerry.model.intervals import read_interval_text

__all__ = ["TIME_CALLS"]

_UNITS = ("MICROSECOND", "MILLISECOND", "SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "MONTH", "QUARTER", "YEAR")
_SHORT_UNITS = {"SS": "SECOND", "MI": "MINUTE", "HH": "HOUR", "DD": "DAY", "MS": "MILLISECOND", "MM": "MONTH"}
_JAVA = {
    "yyyy": "%Y",
    "YYYY": "%Y",
    "yy": "%y",
    "MM": "%m",
    "dd": "%d",
    "HH": "%H",
    "mm": "%M",
    "ss": "%S",
    "SSS": "%g",
    "EEE": "%a",
}
_POSTGRES = {
    "YYYY": "%Y",
    "YY": "%y",
    "MM": "%m",
    "DD": "%d",
    "HH24": "%H",
    "HH12": "%I",
    "HH": "%I",
    "MI": "%M",
    "SS": "%S",
    "MS": "%g",
    "US": "%f",
    "AM": "%p",
    "PM": "%p",
}


def _call(name: str, *arguments: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this=name, expressions=list(arguments))


def _read_unit(tree: exp.Expr) -> str | None:
    """A unit of time that is written as a bare word."""
    word = tree.name.upper() if isinstance(tree, exp.Column) and not tree.table else ""
    unit = _SHORT_UNITS.get(word, word.removesuffix("S"))
    return unit if unit in _UNITS else None


def _add_time(arguments: Sequence[exp.Expr]) -> exp.Expr | None:
    """DATEADD(second, 10, ts)."""
    unit = _read_unit(arguments[0]) if len(arguments) == 3 else None
    if unit is None:
        return None
    return exp.Paren(this=exp.Add(this=arguments[2], expression=_call(f"to_{unit.lower()}s", arguments[1])))


def _subtract_times(function: str) -> Callable[[Sequence[exp.Expr]], exp.Expr | None]:
    """DATEDIFF(second, a, b) counts the boundaries between, TIMESTAMPDIFF(SECOND, a, b) whole units."""

    def write(arguments: Sequence[exp.Expr]) -> exp.Expr | None:
        unit = _read_unit(arguments[0]) if len(arguments) == 3 else None
        return None if unit is None else _call(function, exp.Literal.string(unit.lower()), *arguments[1:])

    return write


def _format_time(patterns: Mapping[str, str], *, quotes: bool) -> Callable[[Sequence[exp.Expr]], exp.Expr | None]:
    """A time as text, by a format in another language; None if that says what strftime cannot."""
    longest = "|".join(sorted(patterns, key=len, reverse=True))

    def write(arguments: Sequence[exp.Expr]) -> exp.Expr | None:
        if len(arguments) != 2 or not isinstance(arguments[1], exp.Literal) or not arguments[1].is_string:
            return None
        found, rest = [], arguments[1].name
        while rest:
            quoted = re.match(r"'([^']*)'", rest) if quotes else re.match(r'"([^"]*)"', rest)
            token = quoted or re.match(rf"{longest}|[^A-Za-z]", rest)
            if token is None:
                return None
            known = patterns.get(token[0])
            found.append(token[1].replace("%", "%%") if quoted else known or token[0].replace("%", "%%"))
            rest = rest[token.end() :]
        return _call("strftime", arguments[0], exp.Literal.string("".join(found)))

    return write


def _read_size(tree: exp.Expr) -> exp.Expr:
    """A span of time that may be a text."""
    if not isinstance(tree, exp.Literal):
        return tree
    try:
        return read_interval_text(tree.name) or exp.Interval(this=tree)
    except ValueError as error:
        raise SqlError(str(error)) from None


def _bin(arguments: Sequence[exp.Expr]) -> exp.Expr | None:
    """DATE_BIN(size, ts, origin), the origin at 0 o'clock or left out."""
    if len(arguments) not in (2, 3):
        return None
    size = _read_size(arguments[0])
    if len(arguments) == 2:
        return _call("time_bucket", size, arguments[1], parse_expression("TIMESTAMP '1970-01-01'"))
    origin = arguments[2]
    moment = exp.cast(origin, "TIMESTAMP") if isinstance(origin, exp.Literal) else origin
    return _call("time_bucket", size, arguments[1], moment)


def _truncate(unit: str) -> Callable[[Sequence[exp.Expr]], exp.Expr | None]:
    """toStartOfMinute(ts)."""
    return lambda arguments: _call("date_trunc", exp.Literal.string(unit), *arguments) if len(arguments) == 1 else None


def _truncate_to(arguments: Sequence[exp.Expr]) -> exp.Expr | None:
    """TIMESTAMP_TRUNC(ts, MINUTE)."""
    unit = _read_unit(arguments[1]) if len(arguments) == 2 else None
    return None if unit is None else _call("date_trunc", exp.Literal.string(unit.lower()), arguments[0])


def _slice_time(arguments: Sequence[exp.Expr]) -> exp.Expr | None:
    """TIME_SLICE(ts, 5, 'MINUTE')."""
    if len(arguments) != 3 or not all(isinstance(each, exp.Literal) for each in arguments[1:]):
        return None
    size = exp.Literal.string(f"{arguments[1].name} {arguments[2].name}")
    return _call("time_bucket", _read_size(size), arguments[0])


def _bucket(arguments: Sequence[exp.Expr]) -> exp.Expr | None:
    """time_bucket('5 minutes', ts, ...), the size as a text."""
    if not arguments or not isinstance(arguments[0], exp.Literal) or not arguments[0].is_string:
        return None
    return _call("time_bucket", _read_size(arguments[0]), *arguments[1:])


def _part_of_time(function: str) -> Callable[[Sequence[exp.Expr]], exp.Expr | None]:
    """DATEPART(hour, ts), the unit as a bare word."""

    def write(arguments: Sequence[exp.Expr]) -> exp.Expr | None:
        unit = _read_unit(arguments[0]) if len(arguments) == 2 else None
        return None if unit is None else _call(function, exp.Literal.string(unit.lower()), arguments[1])

    return write


def _name_of_time(arguments: Sequence[exp.Expr]) -> exp.Expr | None:
    """DATENAME(month, ts): the month and the weekday have names, other parts are numbers as text."""
    word = arguments[0].name.upper() if len(arguments) == 2 and isinstance(arguments[0], exp.Column) else ""
    named = {"MONTH": "monthname", "MM": "monthname", "WEEKDAY": "dayname", "DW": "dayname"}.get(word)
    if named:
        return _call(named, arguments[1])
    part = _part_of_time("date_part")(arguments)
    return None if part is None else exp.cast(part, "VARCHAR")


def _read_epoch(arguments: Sequence[exp.Expr]) -> exp.Expr | None:
    """TO_TIMESTAMP_LTZ(number, 3): milliseconds since 1970, or seconds."""
    if len(arguments) != 2 or arguments[1].name not in ("0", "3"):
        return None
    factor = 1_000 if arguments[1].name == "3" else 1_000_000
    micros = exp.Mul(this=exp.paren(arguments[0]), expression=exp.Literal.number(factor))
    return _call("make_timestamp", exp.cast(micros, "BIGINT"))


def _count_seconds(arguments: Sequence[exp.Expr]) -> exp.Expr | None:
    """UNIX_TIMESTAMP(ts): whole seconds since 1970."""
    return exp.cast(_call("floor", _call("epoch", arguments[0])), "BIGINT") if len(arguments) == 1 else None


_TIME_FORMATS = _format_time(_JAVA, quotes=True)
TIME_CALLS: Mapping[str, Callable[[Sequence[exp.Expr]], exp.Expr | None]] = {
    "DATEADD": _add_time,
    "DATEDIFF": _subtract_times("date_diff"),
    "DATENAME": _name_of_time,
    "DATEPART": _part_of_time("date_part"),
    "DATETIME_TRUNC": _truncate_to,
    "DATE_BIN": _bin,
    "DATE_FORMAT": _TIME_FORMATS,
    "FORMAT_TIMESTAMP": _TIME_FORMATS,
    "TIMESTAMPADD": _add_time,
    "TIMESTAMPDIFF": _subtract_times("date_sub"),
    "TIMESTAMPTOSTRING": _TIME_FORMATS,
    "TIMESTAMP_TRUNC": _truncate_to,
    "TIME_BUCKET": _bucket,
    "TIME_SLICE": _slice_time,
    "TO_CHAR": _format_time(_POSTGRES, quotes=False),
    "TO_TIMESTAMP_LTZ": _read_epoch,
    "UNIX_TIMESTAMP": _count_seconds,
    **{f"TOSTARTOF{unit}": _truncate(unit.lower()) for unit in ("SECOND", "MINUTE", "HOUR", "DAY", "MONTH", "YEAR")},
}
"""What each is here: None if that cannot be said of these arguments."""
