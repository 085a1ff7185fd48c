"""A rule's body as a DataFrame: one column per variable, one row per binding."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce

from pyspark.sql import Column, DataFrame, types
from pyspark.sql import functions as F

from skerry.deduce.subgoal_order import Bind, Check, Match, Step, order, variables_of
from skerry.model.term import Arithmetic, Constant, Duration, Term, Variable
from skerry.plan.program import Atom, Comparison, Rule, in_units

__all__ = ["Body", "bindings"]

_NUMBERS = (types.LongType, types.DoubleType)


@dataclass(frozen=True)
class Body:
    """A rule, and which of its subgoals sees only what is new, if one does."""

    rule: Rule
    fresh: int | None = None

    @property
    def steps(self) -> tuple[Step, ...]:
        """Its subgoals in an order that can be carried out, the new tuples first."""
        body = list(self.rule.body)
        if self.fresh is None:
            found = order(body)
            assert found is not None, "the checks let only safe rules pass"
            return found
        first = body.pop(self.fresh)
        assert isinstance(first, Atom)
        found = order(body, variables_of(first))
        assert found is not None, "the checks let only safe rules pass"
        return Match(first), *found


def bindings(
    body: Body, start: DataFrame, old: Mapping[str, DataFrame], new: Mapping[str, DataFrame], unit: int
) -> DataFrame:
    """All bindings of a body. ``start`` has one row and no columns of ours: what is known before the first step."""
    frame, first = start, True
    for step in body.steps:
        if isinstance(step, Match):
            relation = new if first and body.fresh is not None else old
            frame = _match(frame, step.atom, relation[step.atom.predicate])
            first = False
        elif isinstance(step, Bind):
            frame = _bind(frame, step, unit)
        else:
            assert isinstance(step, Check), "a program with lists is run in one process"
            frame = _check(frame, step, old, unit)
    return frame


def name_of(variable: Variable) -> str:
    """The column of a variable: dots and quotes mean something to Spark."""
    return "v_" + variable.name.encode().hex()


def _match(frame: DataFrame, atom: Atom, relation: DataFrame) -> DataFrame:
    right, shared = _as_bindings(atom, relation), [name_of(v) for v in dict.fromkeys(variables_of(atom))]
    common = [name for name in shared if name in frame.columns]
    return frame.join(right, common) if common else frame.crossJoin(right)


def _as_bindings(atom: Atom, relation: DataFrame) -> DataFrame:
    """A relation's tuples that an atom fits, as bindings of its variables."""
    conditions, columns = [], dict[str, Column]()
    for index, argument in enumerate(atom.arguments):
        column = F.col(f"c{index}")
        if isinstance(argument, Constant):
            conditions.append(_equals(column, argument, relation.schema[index].dataType))
        else:
            assert isinstance(argument, Variable)
            if name_of(argument) in columns:
                conditions.append(column == columns[name_of(argument)])
            columns.setdefault(name_of(argument), column)
    chosen = relation.where(reduce(Column.__and__, conditions)) if conditions else relation
    return chosen.select(*(column.alias(name) for name, column in columns.items()))


def _equals(column: Column, constant: Constant, kind: types.DataType) -> Column:
    """Atoms match by value, after the constant is brought to the column's type."""
    value = constant.value
    if isinstance(kind, types.DoubleType) and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    fits = {types.LongType: int, types.DoubleType: float, types.StringType: str, types.BooleanType: bool}[type(kind)]
    return column == F.lit(value) if type(value) is fits else F.lit(False)


def _bind(frame: DataFrame, step: Bind, unit: int) -> DataFrame:
    value, kind = term_column(step.value, frame, unit)
    if step.integer and not isinstance(kind, types.LongType):
        return frame.where(F.lit(False)).withColumn(name_of(step.variable), value)
    found = frame.withColumn(name_of(step.variable), value)
    return (
        found.where(_is_defined(F.col(name_of(step.variable)), kind)) if isinstance(step.value, Arithmetic) else found
    )


def _is_defined(column: Column, kind: types.DataType) -> Column:
    return column.isNotNull() & ~F.isnan(column) if isinstance(kind, types.DoubleType) else column.isNotNull()


def _check(frame: DataFrame, step: Check, old: Mapping[str, DataFrame], unit: int) -> DataFrame:
    subgoal = step.subgoal
    if isinstance(subgoal, Comparison):
        return frame.where(_compare(subgoal, frame, unit))
    assert isinstance(subgoal, Atom)
    right = _as_bindings(subgoal, old[subgoal.predicate])
    common = right.columns
    if common:
        return frame.join(right.distinct(), common, "left_anti")
    return frame.join(right.limit(1), F.lit(True), "left_anti")


def _compare(comparison: Comparison, frame: DataFrame, unit: int) -> Column:
    (left, one), (right, other) = (term_column(term, frame, unit) for term in (comparison.left, comparison.right))
    alike = type(one) is type(other) or (isinstance(one, _NUMBERS) and isinstance(other, _NUMBERS))
    if not alike:
        return _is_defined(left, one) & _is_defined(right, other) & F.lit(comparison.operator == "!=")
    signs = {
        "=": Column.__eq__,
        "!=": Column.__ne__,
        "<": Column.__lt__,
        "<=": Column.__le__,
        ">": Column.__gt__,
        ">=": Column.__ge__,
    }
    found: Column = signs[comparison.operator](left, right)
    return _is_defined(left, one) & _is_defined(right, other) & found


def term_column(term: Term, frame: DataFrame, unit: int) -> tuple[Column, types.DataType]:
    """A term over a frame of bindings, and its type. NULL stands for what is undefined."""
    if isinstance(term, Variable):
        return F.col(name_of(term)), frame.schema[name_of(term)].dataType
    if isinstance(term, Duration):
        return F.lit(in_units(term.microseconds, unit)).cast("long"), types.LongType()
    if isinstance(term, Constant):
        kind = {int: types.LongType(), float: types.DoubleType(), str: types.StringType(), bool: types.BooleanType()}
        found = kind[type(term.value)]
        return F.lit(term.value).cast(found), found
    assert isinstance(term, Arithmetic)
    return _calculate(term, frame, unit)


def _calculate(term: Arithmetic, frame: DataFrame, unit: int) -> tuple[Column, types.DataType]:
    (left, one), (right, other) = (term_column(part, frame, unit) for part in (term.left, term.right))
    if term.operator == "+" and isinstance(one, types.StringType) and isinstance(other, types.StringType):
        return F.concat(left, right), one
    if not isinstance(one, _NUMBERS) or not isinstance(other, _NUMBERS):
        return F.lit(None).cast("long"), types.LongType()
    whole = isinstance(one, types.LongType) and isinstance(other, types.LongType) and term.operator != "/"
    kind: types.DataType = types.LongType() if whole else types.DoubleType()
    left, right = left.cast(kind), right.cast(kind)
    nothing = F.lit(None).cast(kind)
    if term.operator in ("+", "-", "*"):
        signs = {"+": Column.__add__, "-": Column.__sub__, "*": Column.__mul__}
        found: Column = signs[term.operator](left, right)
        return found, kind
    if term.operator == "/":
        return F.when(right != 0, left / right).otherwise(nothing), kind
    return F.when(right != 0, _divide_floored(term.operator, left, right, kind)).otherwise(nothing), kind


def _divide_floored(operator: str, left: Column, right: Column, kind: types.DataType) -> Column:
    """Division with the remainder of the divisor's sign, as Python has it."""
    rest = left % right
    rest = F.when((rest != 0) & ((rest < 0) != (right < 0)), rest + right).otherwise(rest)
    if operator == "%":
        return rest
    quotient = (left - rest) / right
    if isinstance(kind, types.DoubleType):
        return F.floor(quotient + 0.5).cast(kind)
    return F.call_function("div", left - rest, right)
