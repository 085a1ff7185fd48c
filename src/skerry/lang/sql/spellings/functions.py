"""Functions that DuckDB has under another name, as other systems call them. What DuckDB knows itself is left alone."""

import re
from collections.abc import Callable, Mapping, Sequence

from sqlglot import exp

from skerry.lang.sql.spellings.aggregates import write_aggregate
from skerry.lang.sql.spellings.times import TIME_CALLS
from skerry.model.aggregate_calls import AGGREGATE_CALLS

__all__ = ["write_functions"]

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
    "NVL": "coalesce",
    "SIZE": "len",
    "TODAYOFMONTH": "dayofmonth",
    "TOHOUR": "hour",
    "TOMINUTE": "minute",
    "TO_JSONB": "to_json",
    "UCASE": "upper",
}


def write_functions(tree: exp.Expr) -> exp.Expr:
    """A tree with functions under the names that they have here.

    >>> from skerry.model.dialect import parse_expression, write_expression
    >>> write_expression(write_functions(parse_expression("TO_CHAR(ts, 'HH24:MI')")))
    "STRFTIME(ts, '%H:%M')"
    """
    for node in reversed(list(tree.walk())):  # what is inside a call first
        made = _write(node)
        if made is node:
            continue
        if node is tree:
            tree = made
        else:
            node.replace(made)
    return tree


def _write(node: exp.Expr) -> exp.Expr:
    if isinstance(node, exp.Lambda) and len(node.expressions) == 1 and (path := _find_path(node)) is not None:
        # f(payload -> 'key') is no lambda, as DuckDB would have it: nobody means that.
        column = exp.Column(this=node.expressions[0])
        path.replace(exp.JSONExtract(this=column, expression=path.copy()))
        return exp.Paren(this=node.this)
    if (aggregate := write_aggregate(node)) is not None:
        return _locate(aggregate, node)
    if not isinstance(node, exp.Anonymous):
        return node
    name, arguments = node.name.upper(), node.expressions
    if name in _NAMES:
        node.set("this", _NAMES[name])
        return node
    made = _CALLS[name](arguments) if name in _CALLS else None
    return node if made is None else _locate(made, node)


def _find_path(node: exp.Lambda) -> exp.Expr | None:
    """The first step of ``payload -> 'key' ->> 'key'``, which the parser takes for the body of a lambda."""
    first = node.this
    while isinstance(first, exp.JSONExtract | exp.JSONExtractScalar):
        first = first.this
    return first if isinstance(first, exp.Literal) else None


def _locate(made: exp.Expr, node: exp.Expr) -> exp.Expr:
    made.meta.update(node.meta)
    return made


def _call(name: str, *arguments: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this=name, expressions=list(arguments))


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


def _choose(arguments: Sequence[exp.Expr]) -> exp.Expr | None:
    if len(arguments) != 3:
        return None
    asked, chosen, other = arguments
    return exp.Case(ifs=[exp.If(this=asked, true=chosen)], default=other)


def _cast_to_text(arguments: Sequence[exp.Expr]) -> exp.Expr | None:
    return exp.cast(arguments[0], "VARCHAR") if len(arguments) == 1 else None


def _cast_to_date(arguments: Sequence[exp.Expr]) -> exp.Expr | None:
    return exp.cast(arguments[0], "DATE") if len(arguments) == 1 else None


def _divide_safely(arguments: Sequence[exp.Expr]) -> exp.Expr | None:
    """NULL where it is divided by zero."""
    if len(arguments) != 2:
        return None
    divisor = _call("nullif", arguments[1], exp.Literal.number(0))
    return exp.paren(exp.Div(this=exp.cast(arguments[0], "DOUBLE"), expression=divisor))


def _write_null_as_zero(arguments: Sequence[exp.Expr]) -> exp.Expr | None:
    return _call("coalesce", arguments[0], exp.Literal.number(0)) if len(arguments) == 1 else None


def _collect_json(arguments: Sequence[exp.Expr]) -> exp.Expr | None:
    """Values as an array in JSON."""
    return _call("to_json", AGGREGATE_CALLS["LIST"](list(arguments))) if len(arguments) == 1 else None


_CALLS: Mapping[str, Callable[[Sequence[exp.Expr]], exp.Expr | None]] = {
    **TIME_CALLS,
    "EXPLODE": lambda arguments: _call("unnest", *arguments),
    "IFF": _choose,
    "JSONB_AGG": _collect_json,
    "JSONB_ARRAY_ELEMENTS": lambda arguments: _elements(arguments, texts=False),
    "JSONB_ARRAY_ELEMENTS_TEXT": lambda arguments: _elements(arguments, texts=True),
    "JSONB_EXTRACT_PATH_TEXT": _extract_path,
    "JSON_AGG": _collect_json,
    "JSON_ARRAY_ELEMENTS": lambda arguments: _elements(arguments, texts=False),
    "JSON_ARRAY_ELEMENTS_TEXT": lambda arguments: _elements(arguments, texts=True),
    "REGEXP_MATCH": _match_groups,
    "SAFE_DIVIDE": _divide_safely,
    "TOPK": lambda arguments: exp.Max(this=arguments[0], expressions=[*arguments[1:]]) if arguments else None,
    "TO_DATE": _cast_to_date,
    "TO_STRING": _cast_to_text,
    "TO_VARCHAR": _cast_to_text,
    "ZEROIFNULL": _write_null_as_zero,
}
