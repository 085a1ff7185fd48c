"""Aggregates of other systems, and DuckDB's macros of aggregates, in the aggregates that there are.

TimescaleDB: FIRST(x, ts), LAST(x, ts)       FIRST(x ORDER BY ts), LAST(x ORDER BY ts)
Spark: FIRST(x, TRUE)                        FIRST(x) IGNORE NULLS
ClickHouse: sumIf(x, c), countIf(c)          SUM(x) FILTER (WHERE c), COUNT_IF(c)
ksqlDB, Spark: COLLECT_SET(x)                LIST(DISTINCT x)
DuckDB: geomean(x), weighted_avg(x, w)       exp(AVG(ln(x))), SUM(x * w) / SUM(w)
"""

from collections.abc import Callable, Mapping, Sequence

from sqlglot import exp

from skerry.model.aggregate_calls import AGGREGATE_CALLS, move_inside

__all__ = ["write_aggregate"]

_NAMES = {
    "ANYLAST": "LAST",
    "APPROX_MEDIAN": "MEDIAN",
    "COLLECT_LIST": "LIST",
    "EARLIEST_BY_OFFSET": "FIRST",
    "GROUPARRAY": "LIST",
    "LATEST_BY_OFFSET": "LAST",
    "LIST_AGG": "LIST",
    "PERCENTILE_APPROX": "APPROX_QUANTILE",
    "STDEV": "STDDEV_SAMP",
    "STDEVP": "STDDEV_POP",
    "STDDEVPOP": "STDDEV_POP",
    "STDDEVSAMP": "STDDEV_SAMP",
    "UNIQ": "APPROX_COUNT_DISTINCT",
    "VAR": "VAR_SAMP",
    "VARP": "VAR_POP",
    "VARPOP": "VAR_POP",
    "VARSAMP": "VAR_SAMP",
}
_CONDITIONAL = {"ANYIF": "ANY_VALUE", "AVGIF": "AVG", "MAXIF": "MAX", "MINIF": "MIN", "SUMIF": "SUM"}
_OF_DIFFERENT = {"COLLECT_SET": "LIST", "COUNT_DISTINCT": "COUNT", "GROUPUNIQARRAY": "LIST", "UNIQEXACT": "COUNT"}
_CLASSES: Mapping[str, Callable[..., exp.Expr]] = {
    "AVG": lambda arguments: exp.Avg(this=arguments[0]),
    "COUNT": lambda arguments: exp.Count(this=arguments[0]),
    "MAX": lambda arguments: exp.Max(this=arguments[0]),
    "MIN": lambda arguments: exp.Min(this=arguments[0]),
    "STDDEV_POP": lambda arguments: exp.StddevPop(this=arguments[0]),
    "STDDEV_SAMP": lambda arguments: exp.StddevSamp(this=arguments[0]),
    "SUM": lambda arguments: exp.Sum(this=arguments[0]),
}
"""What makes those calls that sqlglot has classes for."""


def write_aggregate(node: exp.Expr) -> exp.Expr | None:
    """A call of an aggregate as it is written here; None if it is written so already, or is none.

    >>> from skerry.model.dialect import parse_expression, write_expression
    >>> write_expression(write_aggregate(parse_expression("sumIf(x, y > 3)")))
    'SUM(x) FILTER(WHERE y > 3)'
    """
    if isinstance(node, exp.AggFunc) and node.sql_name() in ("FIRST", "LAST"):
        return _read_second(node)
    if isinstance(node, exp.Filter) and not isinstance(node.this, exp.AggFunc):
        return _move_filter(node)
    if not isinstance(node, exp.Anonymous):
        return None
    name, arguments = node.name.upper(), node.expressions
    if name in _NAMES and arguments:
        return _make(_NAMES[name], arguments)
    if name in _OF_DIFFERENT and len(arguments) == 1:
        return _make(_OF_DIFFERENT[name], [exp.Distinct(expressions=arguments)])
    if name in _CONDITIONAL and len(arguments) == 2:
        return exp.Filter(this=_make(_CONDITIONAL[name], arguments[:1]), expression=exp.Where(this=arguments[1]))
    is_whole = isinstance(node.parent, exp.Window)  # OVER goes with one call
    return _MACROS[name](arguments) if name in _MACROS and not is_whole else None


def _make(name: str, arguments: Sequence[exp.Expr]) -> exp.Expr:
    return (AGGREGATE_CALLS.get(name) or _CLASSES[name])(list(arguments))


def _read_second(node: exp.AggFunc) -> exp.Expr | None:
    """FIRST(x, ts), LAST(x, ts): what they go by; FIRST(x, TRUE): whether they leave NULL out."""
    second = node.expressions[0] if len(node.expressions) == 1 else None
    if isinstance(second, exp.Column):
        order = exp.Order(this=node.this, expressions=[exp.Ordered(this=second)])
        return _make(node.sql_name(), [order])
    if isinstance(second, exp.Boolean):
        call = _make(node.sql_name(), [node.this])
        return move_inside(exp.IgnoreNulls(this=call)) if second.this else call
    return None


def _move_filter(node: exp.Filter) -> exp.Expr | None:
    """The FILTER of what is computed from aggregates, with each of them."""
    where = node.expression.this
    if isinstance(node.this, exp.Filter):
        both = exp.and_(node.this.expression.this, where)
        return exp.Filter(this=node.this.this, expression=exp.Where(this=both))
    for call in list(node.this.find_all(exp.AggFunc)):
        call.replace(exp.Filter(this=call.copy(), expression=exp.Where(this=where.copy())))
    return node.this


def _write_geometric_mean(arguments: Sequence[exp.Expr]) -> exp.Expr | None:
    if len(arguments) != 1:
        return None
    logarithm = exp.Anonymous(this="ln", expressions=[arguments[0]])
    return exp.Anonymous(this="exp", expressions=[_make("AVG", [logarithm])])


def _write_weighted_mean(arguments: Sequence[exp.Expr]) -> exp.Expr | None:
    """As DuckDB's macro has it: weights of values that are not there do not count."""
    if len(arguments) != 2:
        return None
    value, weight = (exp.paren(each) for each in arguments)
    is_there = exp.Not(this=exp.Is(this=value.copy(), expression=exp.null()))
    counted = exp.Case(ifs=[exp.If(this=is_there, true=weight.copy())], default=exp.Literal.number(0))
    products = exp.Mul(this=value, expression=weight)
    total = exp.cast(_make("SUM", [products]), "DOUBLE")  # of whole numbers it is no whole number
    return exp.paren(exp.Div(this=total, expression=_make("SUM", [counted])))


_MACROS: Mapping[str, Callable[[Sequence[exp.Expr]], exp.Expr | None]] = {
    "GEOMEAN": _write_geometric_mean,
    "GEOMETRIC_MEAN": _write_geometric_mean,
    "WAVG": _write_weighted_mean,
    "WEIGHTED_AVG": _write_weighted_mean,
}
