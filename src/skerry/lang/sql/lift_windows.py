"""Aggregates whose argument names the window's ends, where a reading is in several windows or its window is not over.

A group has one window, so ``window_start`` and ``window_end`` are constants to it. An aggregate of what depends on them
alone follows from their values and the number of rows, and a CASE that only asks about them can be asked outside.

    MAX(window_start)                                  window_start
    COUNT(x) FILTER (WHERE window_end < t)             CASE WHEN window_end < t THEN COUNT(x) ELSE 0 END
    SUM(CASE WHEN window_start < t THEN x ELSE y END)  CASE WHEN window_start < t THEN SUM(x) ELSE SUM(y) END
"""

from collections.abc import Callable, Mapping

from sqlglot import exp

from skerry.errors import SqlError
from skerry.lang.sql.create_source import identifier
from skerry.lang.sql.statements import location_of
from skerry.model.window import WINDOW_END, WINDOW_START

__all__ = ["depends_on_window_alone", "lift_windows", "names_window"]

_ROWS = exp.Count(this=exp.Star())


def names_window(tree: exp.Expr) -> bool:
    """Whether an expression names an end of its window."""
    return any(_is_end(column) for column in tree.find_all(exp.Column))


def depends_on_window_alone(tree: exp.Expr) -> bool:
    """Whether an expression names ends of its window, and no other column."""
    columns = list(tree.find_all(exp.Column))
    return bool(columns) and all(_is_end(column) for column in columns)


def _is_end(column: exp.Column) -> bool:
    return isinstance(column.this, exp.Identifier) and identifier(column) in (WINDOW_START, WINDOW_END)


def lift_windows(tree: exp.Expr) -> exp.Expr:
    """The same expression, without an aggregate that holds an end of the window."""
    return tree.copy().transform(lambda node: _lift_call(node) if _is_call(node) and names_window(node) else node)


def _is_call(node: exp.Expr) -> bool:
    return isinstance(node, exp.Filter) or (isinstance(node, exp.AggFunc) and not isinstance(node.parent, exp.Filter))


def _lift_call(call: exp.Expr) -> exp.Expr:
    if isinstance(call, exp.Filter):
        asked = call.expression.this
        if depends_on_window_alone(asked):
            return exp.case().when(asked.copy(), _lift_aggregate(call.this)).else_(_of_nothing(call.this))
        if names_window(asked):
            raise _refuse(call)
        inner = _lift_aggregate(call.this)
        return inner.transform(lambda node: _filtered(node, call) if isinstance(node, exp.AggFunc) else node)
    return _lift_aggregate(call)


def _filtered(aggregate: exp.Expr, call: exp.Filter) -> exp.Expr:
    return exp.Filter(this=aggregate.copy(), expression=call.expression.copy())


def _lift_aggregate(call: exp.Expr) -> exp.Expr:
    argument = call.this
    if any(names_window(each) for each in call.expressions):
        raise _refuse(call)
    if argument is None or not names_window(argument):
        return call.copy()
    if isinstance(argument, exp.Case) and _asks_window_alone(argument):
        return _lift_case(call, argument)
    value = argument.expressions[0] if isinstance(argument, exp.Distinct) else argument
    constant = _CONSTANTS.get(type(call))
    if isinstance(argument, exp.Order) or constant is None or not depends_on_window_alone(value):
        raise _refuse(call)
    is_distinct = isinstance(argument, exp.Distinct)
    found = _count_distinct(value) if is_distinct and isinstance(call, exp.Count) else constant(value)
    return exp.paren(found, copy=False)


def _asks_window_alone(case: exp.Case) -> bool:
    asked = [*([case.this] if case.this else []), *(branch.this for branch in case.args["ifs"])]
    return all(depends_on_window_alone(each) or not each.find(exp.Column) for each in asked)


def _lift_case(call: exp.Expr, case: exp.Case) -> exp.Expr:
    """Ask outside what does not depend on a row."""
    branches = [
        exp.If(this=branch.this.copy(), true=_lift_over(call, branch.args["true"])) for branch in case.args["ifs"]
    ]
    otherwise = case.args.get("default")
    default = _lift_over(call, otherwise) if otherwise is not None else _of_nothing(call)
    return exp.Case(this=case.this.copy() if case.this else None, ifs=branches, default=default)


def _lift_over(call: exp.Expr, argument: exp.Expr) -> exp.Expr:
    inner = call.copy()
    inner.set("this", argument.copy())
    return _lift_aggregate(inner)


def _of_nothing(call: exp.Expr) -> exp.Expr:
    """What an aggregate gives where no value is left."""
    return exp.Literal.number(0) if isinstance(call, exp.Count) else exp.Null()


def _count(value: exp.Expr) -> exp.Expr:
    return exp.case().when(exp.Is(this=exp.paren(value), expression=exp.Null()), "0").else_(_ROWS.copy())


def _count_distinct(value: exp.Expr) -> exp.Expr:
    return exp.case().when(exp.Is(this=exp.paren(value), expression=exp.Null()), "0").else_("1")


def _sum(value: exp.Expr) -> exp.Expr:
    return exp.Mul(this=exp.paren(value), expression=_ROWS.copy())


def _deviation_of_sample(value: exp.Expr) -> exp.Expr:
    several = exp.GT(this=_ROWS.copy(), expression=exp.Literal.number(1))
    return exp.case().when(several, _no_deviation(value))


def _no_deviation(value: exp.Expr) -> exp.Expr:
    return exp.Mul(this=_average(value), expression=exp.Literal.number(0))


def _average(value: exp.Expr) -> exp.Expr:
    return exp.cast(value.copy(), "DOUBLE")


_CONSTANTS: Mapping[type[exp.Expr], Callable[[exp.Expr], exp.Expr]] = {
    exp.Avg: _average,
    exp.Count: _count,
    exp.Max: lambda value: value.copy(),
    exp.Min: lambda value: value.copy(),
    exp.Stddev: _deviation_of_sample,
    exp.StddevPop: _no_deviation,
    exp.StddevSamp: _deviation_of_sample,
    exp.Sum: _sum,
}
"""What an aggregate is of a value that all rows of a group share."""


def _refuse(call: exp.Expr) -> SqlError:
    message = "an aggregate over HOP or SESSION_WINDOW compares window_start and window_end with constants only"
    instead = "write TUMBLE, or select the ends of the window beside the aggregate and compute with both"
    return SqlError(f"{message}; {instead}", location_of(call))
