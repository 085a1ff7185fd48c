"""Calls of aggregate functions, as syntax trees: every one under its own name, with its arguments in order.

sqlglot has a class with fields of its own for some aggregates, one class for several names of others, and none for the
rest. Here a call is what was written: the function's name, the arguments, DISTINCT before the first and ORDER BY behind
the last. What other dialects write around a call is put inside, as DuckDB does.

    PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY x)     QUANTILE_CONT(x, 0.9 ORDER BY x)
    LISTAGG(x, ',') WITHIN GROUP (ORDER BY y)          LISTAGG(x, ',' ORDER BY y)
    LAST(x) IGNORE NULLS                               LAST(x) FILTER (WHERE NOT x IS NULL)
"""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from sqlglot import exp

__all__ = ["AGGREGATE_CALLS", "AggregateCall", "move_inside"]

_NAMES = (
    *("ANY_VALUE", "APPROX_COUNT_DISTINCT", "APPROX_DISTINCT", "APPROX_PERCENTILE", "APPROX_QUANTILE", "ARBITRARY"),
    *("APPROX_TOP_K", "ARGMAX", "ARGMIN", "ARG_MAX", "ARG_MAX_NULL", "ARG_MAX_NULLS_LAST", "ARG_MIN", "ARG_MIN_NULL"),
    *("ARG_MIN_NULLS_LAST", "ARRAY_AGG", "BITSTRING_AGG", "BIT_AND", "BIT_OR", "BIT_XOR", "BOOL_AND"),
    *("BOOL_OR", "CORR", "COUNTIF", "COUNT_IF", "COVAR_POP", "COVAR_SAMP", "ENTROPY", "EVERY", "FAVG", "FIRST", "FSUM"),
    *("GROUP_CONCAT", "HISTOGRAM", "HISTOGRAM_EXACT", "KAHAN_SUM", "KURTOSIS", "KURTOSIS_POP", "LAST", "LIST"),
    *("LISTAGG", "SUMKAHAN", "SUM_NO_OVERFLOW"),
    *("LOGICAL_AND", "LOGICAL_OR", "MAD", "MAX_BY", "MEAN", "MEDIAN", "MIN_BY", "MODE", "PERCENTILE_CONT"),
    *("PERCENTILE_DISC", "PRODUCT", "QUANTILE", "QUANTILE_CONT", "QUANTILE_DISC", "REGR_AVGX", "REGR_AVGY"),
    *("REGR_COUNT", "REGR_INTERCEPT", "REGR_R2", "REGR_SLOPE", "REGR_SXX", "REGR_SXY", "REGR_SYY", "SEM", "SKEWNESS"),
    *("STRING_AGG", "VARIANCE", "VAR_POP", "VAR_SAMP"),
)
_ORDERED_VALUE = {
    "APPROX_PERCENTILE": "APPROX_QUANTILE",
    "APPROX_QUANTILE": "APPROX_QUANTILE",
    "MODE": "MODE",
    "PERCENTILE_CONT": "QUANTILE_CONT",
    "PERCENTILE_DISC": "QUANTILE_DISC",
    "QUANTILE_CONT": "QUANTILE_CONT",
    "QUANTILE_DISC": "QUANTILE_DISC",
}
"""Functions of which WITHIN GROUP names the value, with what they are called where it is an argument."""
_FIRST_OR_LAST = (exp.FirstValue, exp.LastValue)


class AggregateCall(exp.Expression, exp.AggFunc):
    """A call of an aggregate function. ``this`` is its first argument, ``expressions`` are the others."""

    arg_types: ClassVar[dict[str, bool]] = {"this": False, "expressions": False}
    is_var_len_args: ClassVar[bool] = True

    @property
    def arguments(self) -> list[exp.Expr]:
        """All arguments."""
        return [*([self.this] if self.this is not None else []), *self.expressions]


def _make_class(name: str) -> type[AggregateCall]:
    return type(f"{name.title().replace('_', '')}Call", (AggregateCall,), {"_sql_names": [name]})


_CLASSES: Mapping[str, type[AggregateCall]] = {name: _make_class(name) for name in _NAMES}
AGGREGATE_CALLS: Mapping[str, Callable[[list[Any]], exp.Expr]] = {
    name: each.from_arg_list for name, each in _CLASSES.items()
}
"""What makes a call of its arguments, by the name of the function."""


def move_inside(tree: exp.Expr | None) -> exp.Expr | None:
    """A call with what was written around it as part of it."""
    if isinstance(tree, exp.Filter):
        tree.set("this", move_inside(tree.this))
        return tree
    if isinstance(tree, exp.IgnoreNulls) and isinstance(tree.this, _FIRST_OR_LAST_CALLS):
        return _leave_null_out(tree.this)
    if isinstance(tree, exp.WithinGroup) and isinstance(tree.this, AggregateCall):
        return _move_order(tree.this, tree.expression)
    return tree


_FIRST_OR_LAST_CALLS = (_CLASSES["FIRST"], _CLASSES["LAST"])


def _leave_null_out(call: exp.Expr) -> exp.Expr:
    value = call.this.this if isinstance(call.this, exp.Order) else call.this
    is_there = exp.Not(this=exp.Is(this=exp.paren(value.copy(), copy=False), expression=exp.Null()))
    return exp.Filter(this=call, expression=exp.Where(this=is_there))


def _move_order(call: AggregateCall, order: exp.Expr) -> exp.Expr:
    """WITHIN GROUP (ORDER BY ...) as DuckDB has it inside the call."""
    name = _ORDERED_VALUE.get(call.sql_name())
    if name is None or len(order.expressions) != 1:
        *before, last = call.arguments or [exp.Null()]
        arguments = [*before, exp.Order(this=last, expressions=order.expressions)]
        return _rebuild(call, call.sql_name(), arguments)
    value, given = order.expressions[0].this.copy(), call.arguments
    if not given:
        return _rebuild(call, name, [value])
    first, *others = given
    return _rebuild(call, name, [value, exp.Order(this=first, expressions=order.expressions), *others])


def _rebuild(call: AggregateCall, name: str, arguments: list[Any]) -> exp.Expr:
    found = _CLASSES[name].from_arg_list(arguments)
    found.meta.update(call.meta)
    return found
