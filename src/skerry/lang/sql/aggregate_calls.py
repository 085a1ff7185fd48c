"""Calls of aggregate functions: which function of which columns, over which rows, and how it gets at its answer.

Meaning is DuckDB's. Where DuckDB goes by the order in which it meets rows, rows are ordered here by event time, and of
one time by value: FIRST, LAST, ANY_VALUE, MODE, STRING_AGG and ARRAY_AGG, and rows that ORDER BY leaves equal.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa
from sqlglot import exp

from skerry.errors import SqlError
from skerry.lang.sql.scalar import Scope, constant, scalar
from skerry.lang.sql.statements import location_of
from skerry.model.dialect import write_expression
from skerry.model.duckdb_session import open_duckdb
from skerry.model.types import SQL_TYPES
from skerry.plan.fold import Method, Ordering

__all__ = ["KNOWN", "Call", "EventTime", "is_comparable", "is_number", "read_call"]

_COMPARABLE = frozenset({*SQL_TYPES.values(), pa.int8()})
_ASCENDING, _DESCENDING = Ordering(), Ordering(descending=True)


class EventTime(exp.Expression):
    """Stands for the time of a row among the arguments of a call."""


@dataclass(frozen=True)
class Call:
    """A call, read. The first argument is the value, others follow, then what rows are ordered by.

    ``text`` is the call as DuckDB runs it over the arguments as c0, c1, ...
    """

    function: str
    arguments: tuple[exp.Expr, ...] = ()
    method: Method = Method.TOTALS
    order: tuple[Ordering, ...] = ()
    where: exp.Expr | None = None
    keeps_null: bool = False
    text: str = ""
    settings: tuple[float, ...] = ()


@dataclass(frozen=True)
class _Written:
    """A call as it is written."""

    tree: exp.Expr
    name: str
    arguments: Sequence[exp.Expr]
    is_distinct: bool
    keys: Sequence[exp.Ordered]
    where: exp.Expr | None
    scope: Scope

    @property
    def order(self) -> tuple[Ordering, ...]:
        """How the keys of ORDER BY order rows."""
        return tuple(Ordering(bool(key.args.get("desc")), bool(key.args.get("nulls_first"))) for key in self.keys)

    def refuse(self, message: str) -> SqlError:
        """What is wrong, and where."""
        return SqlError(message, location_of(self.tree))

    def take(self, count: int, *, constants: int = 0) -> list[exp.Expr]:
        """The arguments, which must be so many, and at most so many constants behind them."""
        if not count <= len(self.arguments) <= count + constants or isinstance(self.arguments[0], exp.Star):
            if not self.arguments or isinstance(self.arguments[0], exp.Star):
                raise self.refuse(f"{self.name} needs a column")
            raise self.refuse(f"{self.name} has {['no', 'one', 'two', 'three'][count]} argument{'s' * (count > 1)}")
        return list(self.arguments)


def read_call(node: exp.Expr, whole: exp.Expr, scope: Scope) -> Call:
    """Read a call. ``whole`` is it with its FILTER."""
    written = _take_apart(node, whole, scope)
    read = _READERS.get(written.name)
    if read is None:
        message = f"the aggregate {written.name} is not available; known are {', '.join(KNOWN)}"
        raise SqlError(message, location_of(whole))
    call = read(written)
    if call.method in (Method.CHOSEN, Method.COLLECTED) or written.where is None:
        return replace(call, where=_both(call.where, written.where))
    kept = call.arguments or (exp.Literal.number(1),)
    filtered = (exp.case().when(written.where.copy(), each.copy()) for each in kept)
    return replace(call, arguments=tuple(filtered))


def _take_apart(node: exp.Expr, whole: exp.Expr, scope: Scope) -> _Written:
    arguments = [*([node.this] if isinstance(node.this, exp.Expr) else []), *node.expressions]
    keys: list[exp.Ordered] = []
    for number, argument in enumerate(arguments):
        if isinstance(argument, exp.Limit):
            message = f"{_name(node)} takes no LIMIT; write list_slice(ARRAY_AGG(x ORDER BY y), 1, n)"
            raise SqlError(message, location_of(whole))
        if isinstance(argument, exp.Order):
            keys, arguments[number] = list(argument.expressions), argument.this
    is_distinct = bool(arguments) and isinstance(arguments[0], exp.Distinct)
    if is_distinct:
        arguments = [*arguments[0].expressions, *arguments[1:]]
    where = whole.expression.this if isinstance(whole, exp.Filter) else None
    return _Written(whole, _name(node), arguments, is_distinct, keys, where, scope)


def _name(node: exp.Expr) -> str:
    return node.sql_name() if isinstance(node, exp.Func) else type(node).__name__.upper()


def _both(one: exp.Expr | None, other: exp.Expr | None) -> exp.Expr | None:
    if one is None or other is None:
        return one or other
    return exp.and_(one.copy(), other.copy())


def _count(written: _Written) -> Call:
    if not written.arguments or isinstance(written.arguments[0], exp.Star):
        return Call("count")
    if written.is_distinct and len(written.arguments) > 1:
        raise written.refuse("COUNT(DISTINCT ...) takes one column; write COUNT(DISTINCT concat_ws('/', a, b))")
    (value,) = written.take(1)
    if written.is_distinct:
        return Call("count_distinct", (value,))
    if isinstance(value, exp.Column):
        return Call("count", (value,))
    # It need not leave DuckDB to be counted: not all of DuckDB's values can.
    is_there = exp.Not(this=exp.Is(this=exp.paren(value.copy(), copy=False), expression=exp.Null()))
    return Call("count", (exp.case().when(is_there, exp.Literal.number(1)),))


def _count_if(written: _Written) -> Call:
    (asked,) = written.take(1)
    return Call("count", (exp.case().when(asked.copy(), exp.Literal.number(1)),))


def _totals(function: str, *, cast: str | None = None) -> Callable[[_Written], Call]:
    """A function of sums, counts or extremes of one column."""

    def read(written: _Written) -> Call:
        (value,) = written.take(1)
        value = exp.cast(value.copy(), cast) if cast else value
        is_same = function in ("min", "max", "bool_and", "bool_or")
        method = Method.DISTINCT if written.is_distinct and not is_same else Method.TOTALS
        return Call(function, (value,), method)

    return read


def _extreme(function: str) -> Callable[[_Written], Call]:
    """MIN and MAX: one value, or a list of several."""

    def read(written: _Written) -> Call:
        if len(written.arguments) == 1:
            return _totals(function)(written)
        return _collected(function, constants=1, by_value=True)(written)

    return read


def _pair(function: str) -> Callable[[_Written], Call]:
    """A function of two columns. A row counts if both are there."""

    def read(written: _Written) -> Call:
        _refuse_distinct(written)
        one, other = written.take(2)
        return Call(function, (_double_beside(one, other), _double_beside(other, one)))

    return read


def _double_beside(value: exp.Expr, other: exp.Expr) -> exp.Expr:
    is_there = exp.Not(this=exp.Is(this=exp.paren(other.copy(), copy=False), expression=exp.Null()))
    return exp.case().when(is_there, exp.cast(value.copy(), "DOUBLE"))


def _refuse_distinct(written: _Written) -> None:
    if written.is_distinct:
        raise written.refuse(f"{written.name} takes no DISTINCT")


def _first(*, is_last: bool, keeps_null: bool) -> Callable[[_Written], Call]:
    """The value of the first or last row, by ORDER BY and event time."""

    def read(written: _Written) -> Call:
        _refuse_distinct(written)
        (value,) = written.take(1)
        order = written.order
        if is_last:
            order = tuple(Ordering(not each.descending, not each.nulls_first) for each in order)
        by_time = _DESCENDING if is_last else _ASCENDING
        keys = [key.this for key in written.keys]
        return _choose("last" if is_last else "first", written, [value, *keys], (*order, by_time, by_time), keeps_null)

    return read


def _choose(
    function: str, written: _Written, arguments: Sequence[exp.Expr], order: tuple[Ordering, ...], keeps_null: bool
) -> Call:
    """One row, by keys, time and value; a value without an order by its text."""
    value, is_text = arguments[0], not is_comparable(scalar(arguments[0], written.scope).type)
    text = [exp.cast(value.copy(), "VARCHAR")] if is_text else []
    for key in arguments[1:]:
        if not is_comparable(scalar(key, written.scope).type):
            raise written.refuse(f"{written.name} cannot order rows by {write_expression(key)}; cast it")
    return Call(function, (*arguments, EventTime(), *text), Method.CHOSEN, order, keeps_null=keeps_null)


def _arg_extreme(function: str, *, keeps_null: bool = False, counts_all: bool = False) -> Callable[[_Written], Call]:
    """The value of the row in which another is least or greatest, of several such rows the first.

    Rows without the other do not count, or, if all do, come last.
    """

    def read(written: _Written) -> Call:
        _refuse_distinct(written)
        value, by, *count = written.take(2, constants=1)
        is_there = None if counts_all else exp.Not(this=exp.Is(this=exp.paren(by.copy()), expression=exp.Null()))
        ordering = _DESCENDING if "max" in function else _ASCENDING
        if not count:
            call = _choose(function, written, [value, by], (ordering, _ASCENDING, _ASCENDING), keeps_null)
            return replace(call, where=is_there)
        text = f"{function}(c0, c1, {constant(count[0])} ORDER BY c2, c0)"
        arguments = (value, by, EventTime())
        return Call(function, arguments, Method.COLLECTED, where=is_there, keeps_null=keeps_null, text=text)

    return read


def _collected(
    function: str, *, constants: int = 0, by_value: bool = False, keeps_null: bool = False
) -> Callable[[_Written], Call]:
    """A function of all values: of which the order does not matter (then by value), or by time where nobody says."""

    def read(written: _Written) -> Call:
        value, *rest = written.take(1, constants=constants)
        keys = [] if by_value or written.is_distinct else [key.this for key in written.keys]
        _check_keys(written, value, by_value=by_value)
        order = [f"c{number} {each.sql}" for number, each in enumerate(written.order[: len(keys)], 1)]
        arguments = [value, *keys]
        if by_value or written.is_distinct:
            order = [f"c0 {each.sql}" for each in written.order or [_ASCENDING]]
            is_rising = not any(each.descending for each in written.order)
            order = [] if function in _ORDERLESS and is_rising else order
        else:
            order += [f"c{len(arguments)}", "c0"]
            arguments.append(EventTime())
        inner = ", ".join(["DISTINCT c0" if written.is_distinct else "c0", *(constant(each) for each in rest)])
        text = f"{function}({inner}{' ORDER BY ' if order else ''}{', '.join(order)})"
        return Call(function, tuple(arguments), Method.COLLECTED, keeps_null=keeps_null, text=text)

    return read


def _check_keys(written: _Written, value: exp.Expr, *, by_value: bool) -> None:
    """Values that are taken once, or whose order is their own, can be ordered by themselves alone."""
    if not (by_value or written.is_distinct):
        return
    if any(key.this != value for key in written.keys):
        what = f"{written.name}(DISTINCT ...)" if written.is_distinct else written.name
        raise written.refuse(f"{what} can be ordered by its own value alone")


def _approx_count_distinct(written: _Written) -> Call:
    return Call("approx_count_distinct", tuple(written.take(1)), Method.SKETCHED)


def _approx_quantile(written: _Written) -> Call:
    """By a sketch of numbers; other values are few, and answered exactly."""
    value, fractions, *_ = written.take(2, constants=1)
    text = constant(fractions)
    if not is_number(scalar(value, written.scope).type):
        return _collected("quantile_disc", constants=2, by_value=True)(written)
    (found,) = open_duckdb().sql(f"SELECT CAST({text} AS DOUBLE{'[]' * text.startswith('[')})").fetchall()[0]
    asked = found if isinstance(found, list) else [found]
    if not asked or not all(0 <= each <= 1 for each in asked):
        raise written.refuse(f"{written.name} takes fractions from 0 to 1, got {text}")
    if any(each.descending for each in written.order):
        asked = [1 - each for each in asked]
    text = f"approx_quantile(c0, {text})"
    return Call("approx_quantile", (value,), Method.SKETCHED, text=text, settings=tuple(asked))


_OF_VALUES = {
    **dict.fromkeys(("BIT_AND", "BIT_OR", "BIT_XOR", "KURTOSIS"), 0),
    **dict.fromkeys(("KURTOSIS_POP", "MAD", "MEDIAN", "PRODUCT", "SEM", "SKEWNESS"), 0),
    **dict.fromkeys(("APPROX_TOP_K", "HISTOGRAM", "HISTOGRAM_EXACT", "QUANTILE_CONT", "QUANTILE_DISC"), 1),
    "BITSTRING_AGG": 2,
}
"""Functions of all values in whatever order, with how many constants they take."""
_ORDERLESS = ("bit_and", "bit_or", "bit_xor", "mad", "max", "median", "min", "quantile_cont", "quantile_disc")
"""Functions that give the same in any order, to the last bit: nothing need be sorted for them."""
_OF_PAIRS = (
    *("CORR", "COVAR_POP", "COVAR_SAMP", "REGR_AVGX", "REGR_AVGY", "REGR_COUNT", "REGR_INTERCEPT", "REGR_R2"),
    *("REGR_SLOPE", "REGR_SXX", "REGR_SXY", "REGR_SYY"),
)
_NAMED: Mapping[str, Callable[[_Written], Call]] = {
    **{name: _collected(name.lower(), constants=count, by_value=True) for name, count in _OF_VALUES.items()},
    **{name: _pair(name.lower()) for name in _OF_PAIRS},
    **{name: _totals(name.lower()) for name in ("AVG", "STDDEV_POP", "STDDEV_SAMP", "SUM", "VAR_POP", "VAR_SAMP")},
    "ANY_VALUE": _first(is_last=False, keeps_null=False),
    "APPROX_COUNT_DISTINCT": _approx_count_distinct,
    "APPROX_QUANTILE": _approx_quantile,
    "ARG_MAX": _arg_extreme("arg_max"),
    "ARG_MAX_NULL": _arg_extreme("arg_max_null", keeps_null=True),
    "ARG_MAX_NULLS_LAST": _arg_extreme("arg_max_nulls_last", keeps_null=True, counts_all=True),
    "ARG_MIN": _arg_extreme("arg_min"),
    "ARG_MIN_NULL": _arg_extreme("arg_min_null", keeps_null=True),
    "ARG_MIN_NULLS_LAST": _arg_extreme("arg_min_nulls_last", keeps_null=True, counts_all=True),
    "ARRAY_AGG": _collected("list", keeps_null=True),
    "BOOL_AND": _totals("bool_and", cast="BOOLEAN"),
    "BOOL_OR": _totals("bool_or", cast="BOOLEAN"),
    "COUNT": _count,
    "COUNT_IF": _count_if,
    "ENTROPY": _collected("entropy", by_value=True, keeps_null=True),
    "FIRST": _first(is_last=False, keeps_null=True),
    "FSUM": _totals("sum", cast="DOUBLE"),
    "LAST": _first(is_last=True, keeps_null=True),
    "MAX": _extreme("max"),
    "MIN": _extreme("min"),
    "MODE": _collected("mode"),
    "STRING_AGG": _collected("string_agg", constants=1),
}
_SYNONYMS = {
    "APPROX_DISTINCT": "APPROX_COUNT_DISTINCT",
    "APPROX_PERCENTILE": "APPROX_QUANTILE",
    "ARBITRARY": "ANY_VALUE",
    "ARGMAX": "ARG_MAX",
    "ARGMIN": "ARG_MIN",
    "COUNTIF": "COUNT_IF",
    "EVERY": "BOOL_AND",
    "FAVG": "AVG",
    "FIRST_VALUE": "FIRST",
    "GROUP_CONCAT": "STRING_AGG",
    "KAHAN_SUM": "FSUM",
    "LAST_VALUE": "LAST",
    "LIST": "ARRAY_AGG",
    "LISTAGG": "STRING_AGG",
    "LOGICAL_AND": "BOOL_AND",
    "LOGICAL_OR": "BOOL_OR",
    "MAX_BY": "ARG_MAX",
    "MEAN": "AVG",
    "MIN_BY": "ARG_MIN",
    "QUANTILE": "QUANTILE_DISC",
    "STDDEV": "STDDEV_SAMP",
    "SUMKAHAN": "FSUM",
    "SUM_NO_OVERFLOW": "SUM",
    "VARIANCE": "VAR_SAMP",
}
_READERS = {**_NAMED, **{name: _NAMED[other] for name, other in _SYNONYMS.items()}}
KNOWN = tuple(sorted({*_NAMED, "PERCENTILE_CONT(p) WITHIN GROUP (ORDER BY x)"}))
"""The functions that there are."""


def is_comparable(type_: pa.DataType) -> bool:
    """Whether values can be told apart and put in order."""
    kinds = (pa.types.is_timestamp, pa.types.is_date32, pa.types.is_time64, pa.types.is_decimal128)
    return type_ in _COMPARABLE or any(is_kind(type_) for is_kind in kinds)


def is_number(type_: pa.DataType) -> bool:
    """Whether values can be added up."""
    return bool(pa.types.is_integer(type_) or pa.types.is_floating(type_) or pa.types.is_decimal(type_))
