"""Functions that DuckDB has under another name, as other systems call them. What DuckDB knows itself is left alone."""

import re
from collections.abc import Callable, Mapping, Sequence

from sqlglot import exp

from skerry.model.aggregate_calls import AGGREGATE_CALLS
from skerry.model.dialect import parse_expression

__all__ = ["write_functions"]

_UNITS = ("MICROSECOND", "MILLISECOND", "SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "MONTH", "QUARTER", "YEAR")
_SHORT_UNITS = {"SS": "SECOND", "MI": "MINUTE", "HH": "HOUR", "DD": "DAY", "MS": "MILLISECOND", "MM": "MONTH"}
_NAMES = {
    "ARRAY_CARDINALITY": "len",
    "CARDINALITY": "cardinality",
    "CHARACTER_LENGTH": "length",
    "CHAR_LENGTH": "length",
    "EXTRACTJSONFIELD": "json_extract_string",
    "GET_JSON_OBJECT": "json_extract_string",
    "JSONB_ARRAY_LENGTH": "json_array_length",
    "JSONB_BUILD_OBJECT": "json_object",
    "JSONB_OBJECT_KEYS": "json_keys",
    "JSON_BUILD_OBJECT": "json_object",
    "LCASE": "lower",
    "LEN": "len",
    "TO_JSONB": "to_json",
    "UCASE": "upper",
}
_AGGREGATES = {
    "COLLECT_LIST": "LIST",
    "EARLIEST_BY_OFFSET": "FIRST",
    "LATEST_BY_OFFSET": "LAST",
    "LIST_AGG": "LIST",
}
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


def write_functions(tree: exp.Expr) -> exp.Expr:
    """A tree with functions under the names that they have here.

    >>> from skerry.model.dialect import write_expression
    >>> write_expression(write_functions(parse_expression("TO_CHAR(ts, 'HH24:MI')")))
    "STRFTIME(ts, '%H:%M')"
    """
    return tree.transform(_write, copy=False)


def _write(node: exp.Expr) -> exp.Expr:
    if isinstance(node, exp.Lambda) and isinstance(node.this, exp.Literal) and len(node.expressions) == 1:
        # f(payload -> 'key') is no lambda, as DuckDB would have it: nobody means that.
        column = exp.Column(this=node.expressions[0])
        return exp.Paren(this=exp.JSONExtract(this=column, expression=node.this))
    if not isinstance(node, exp.Anonymous):
        return node
    name, arguments = node.name.upper(), node.expressions
    if name in _AGGREGATES:
        return _locate(AGGREGATE_CALLS[_AGGREGATES[name]](list(arguments)), node)
    if name in _NAMES:
        node.set("this", _NAMES[name])
        return node
    made = _CALLS[name](arguments) if name in _CALLS else None
    return node if made is None else _locate(made, node)


def _locate(made: exp.Expr, node: exp.Expr) -> exp.Expr:
    made.meta.update(node.meta)
    return made


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


def _extract_path(arguments: Sequence[exp.Expr]) -> exp.Expr | None:
    """A value in JSON, by the names on the way to it."""
    path = [each.name for each in arguments[1:] if isinstance(each, exp.Literal)]
    if not path or len(path) != len(arguments) - 1 or any('"' in each for each in path):
        return None
    steps = "".join(f"[{each}]" if each.isdigit() else f'."{each}"' for each in path)
    return _call("json_extract_string", arguments[0], exp.Literal.string(f"${steps}"))


def _match_groups(arguments: Sequence[exp.Expr]) -> exp.Expr | None:
    """What the groups of a pattern match, or the whole, as a list; NULL if it does not match."""
    if len(arguments) != 2 or not isinstance(arguments[1], exp.Literal):
        return None
    try:
        groups = re.compile(arguments[1].name).groups
    except re.error:
        return None
    text, pattern = arguments
    numbers = range(1, groups + 1) if groups else range(1)
    parts = [_call("regexp_extract", text.copy(), pattern.copy(), exp.Literal.number(number)) for number in numbers]
    matches = exp.If(this=_call("regexp_matches", text.copy(), pattern.copy()), true=exp.Array(expressions=parts))
    return exp.Case(ifs=[matches])


def _elements(arguments: Sequence[exp.Expr], *, texts: bool) -> exp.Expr | None:
    """The elements of an array in JSON, a row each."""
    if len(arguments) != 1:
        return None
    function = "json_extract_string" if texts else "json_extract"
    return _call("unnest", _call(function, arguments[0], exp.Literal.string("$[*]")))


def _bin(arguments: Sequence[exp.Expr]) -> exp.Expr | None:
    """DATE_BIN(size, ts, origin), the origin at 0 o'clock or left out."""
    if len(arguments) not in (2, 3):
        return None
    size = exp.Interval(this=arguments[0]) if isinstance(arguments[0], exp.Literal) else arguments[0]
    if len(arguments) == 2:
        return _call("time_bucket", size, arguments[1], parse_expression("TIMESTAMP '1970-01-01'"))
    origin = arguments[2]
    moment = exp.cast(origin, "TIMESTAMP") if isinstance(origin, exp.Literal) else origin
    return _call("time_bucket", size, arguments[1], moment)


def _collect_json(arguments: Sequence[exp.Expr]) -> exp.Expr | None:
    """Values as an array in JSON."""
    return _call("to_json", AGGREGATE_CALLS["LIST"](list(arguments))) if len(arguments) == 1 else None


_TIME_FORMATS = _format_time(_JAVA, quotes=True)
_CALLS: Mapping[str, Callable[[Sequence[exp.Expr]], exp.Expr | None]] = {
    "DATEADD": _add_time,
    "DATEDIFF": _subtract_times("date_diff"),
    "DATE_BIN": _bin,
    "DATE_FORMAT": _TIME_FORMATS,
    "EXPLODE": lambda arguments: _call("unnest", *arguments),
    "FORMAT_TIMESTAMP": _TIME_FORMATS,
    "JSONB_AGG": _collect_json,
    "JSONB_ARRAY_ELEMENTS": lambda arguments: _elements(arguments, texts=False),
    "JSONB_ARRAY_ELEMENTS_TEXT": lambda arguments: _elements(arguments, texts=True),
    "JSONB_EXTRACT_PATH_TEXT": _extract_path,
    "JSON_AGG": _collect_json,
    "JSON_ARRAY_ELEMENTS": lambda arguments: _elements(arguments, texts=False),
    "JSON_ARRAY_ELEMENTS_TEXT": lambda arguments: _elements(arguments, texts=True),
    "REGEXP_MATCH": _match_groups,
    "TIMESTAMPADD": _add_time,
    "TIMESTAMPDIFF": _subtract_times("date_sub"),
    "TIMESTAMPTOSTRING": _TIME_FORMATS,
    "TOPK": lambda arguments: exp.Max(this=arguments[0], expressions=[*arguments[1:]]) if arguments else None,
    "TO_CHAR": _format_time(_POSTGRES, quotes=False),
}
