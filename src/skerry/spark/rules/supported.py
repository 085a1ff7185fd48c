"""Which programs DataFrames can carry out, and the types they need for it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pyspark.sql import types

from skerry.deduce.checks import check
from skerry.deduce.values import Row, kind
from skerry.model.term import Arithmetic, Call, Constant, Term, Terms, Value, Variable
from skerry.plan.program import AGGREGATES, Aggregate, Atom, Builtin, Checked, Class, Column, Comparison, Rule, Type

__all__ = ["SPARK_TYPES", "find_obstacle", "find_open_numbers", "infer_from_facts", "schema_of"]

SPARK_TYPES: Mapping[Type, types.DataType] = {
    Type.INT: types.LongType(),
    Type.TIME: types.LongType(),
    Type.FLOAT: types.DoubleType(),
    Type.STRING: types.StringType(),
    Type.BOOL: types.BooleanType(),
}


def infer_from_facts(checked: Checked, facts: Mapping[str, Sequence[Row]]) -> Checked:
    """The same program with the types that its facts have, where it leaves them open."""
    found = {}
    for name, predicate in checked.predicates.items():
        if predicate.base:
            columns = tuple(
                _narrow_type(column, [row[index] for row in facts.get(name, ())])
                for index, column in enumerate(predicate.columns)
            )
            found[name] = replace(predicate, columns=columns, declared=True)
    return check(replace(checked.program, predicates={**checked.program.predicates, **found}))


def _narrow_type(column: Column, values: Sequence[Value]) -> Column:
    kinds = set(map(kind, values))
    if column.type not in (Type.NODE, Type.ANY) or len(kinds) != 1:
        return column
    return replace(column, type=kinds.pop())


def schema_of(checked: Checked, predicate: str) -> types.StructType:
    """The columns of a predicate's frame: c0, c1, ..."""
    columns = checked.predicates[predicate].columns
    return types.StructType([types.StructField(f"c{n}", SPARK_TYPES[each.type]) for n, each in enumerate(columns)])


def find_obstacle(checked: Checked) -> str | None:
    """Why a program cannot be carried out over DataFrames; None if it can."""
    for component in checked.components:
        if component.kind in (Class.X, Class.Y):
            return f"{component.predicates[0]!r} is settled stage by stage"
        if component.kind is Class.L:
            return f"{component.predicates[0]!r} is settled tuple by tuple"
    for predicate in checked.predicates.values():
        if not predicate.columns:
            return f"{predicate.name!r} has no columns"
        open_ = [column.name for column in predicate.columns if column.type not in SPARK_TYPES]
        if open_:
            return f"{predicate.name}.{open_[0]} holds lists, function symbols, or values of several kinds"
        if predicate.window_us is not None or predicate.window_rows is not None:
            return f"{predicate.name!r} has a window"
    return next(filter(None, map(_find_rule_obstacle, checked.rules)), None)


def find_open_numbers(checked: Checked, known: Checked) -> str | None:
    """Where whole numbers would become floats because of what facts hold, and not because a column says so.

    In process 1 and 1.0 are two values of a column that is open; in a frame they are one.
    """
    for rule in known.rules:
        columns: dict[Variable, list[tuple[Column, Column]]] = {}
        for atom in (rule.head, *(each for each in rule.body if isinstance(each, Atom))):
            pairs = zip(
                checked.predicates[atom.predicate].columns, known.predicates[atom.predicate].columns, strict=True
            )
            for argument, pair in zip(atom.arguments, pairs, strict=True):
                if isinstance(argument, Variable):
                    columns.setdefault(argument, []).append(pair)
        for variable, found in columns.items():
            is_open = any(before.type in (Type.NODE, Type.ANY) for before, _ in found)
            if is_open and {Type.INT, Type.FLOAT} <= {now.type for _, now in found}:
                return f"{variable.name!r} in rule {rule.number} is a whole number in some facts, and a float in others"
    return None


def _find_rule_obstacle(rule: Rule) -> str | None:
    for argument in rule.head.arguments:
        if isinstance(argument, Aggregate) and argument.function not in AGGREGATES[:-1]:
            return f"rule {rule.number} collects a list"
    for subgoal in rule.body:
        if isinstance(subgoal, Builtin) or any(_holds(term, Call) for term in _terms(subgoal)):
            return f"rule {rule.number} calls a built-in"
        if any(_holds(term, Terms) for term in _terms(subgoal)):
            return f"rule {rule.number} holds a list or a function symbol"
    return None


def _terms(subgoal: Atom | Comparison | Builtin) -> Sequence[Term]:
    if isinstance(subgoal, Comparison):
        return subgoal.left, subgoal.right
    return [argument for argument in subgoal.arguments if not isinstance(argument, Aggregate)]


def _holds(term: Term, kind: type) -> bool:
    if isinstance(term, Arithmetic):
        return _holds(term.left, kind) or _holds(term.right, kind)
    if isinstance(term, Constant) and kind is Terms:
        return not isinstance(term.value, int | float | str)
    return isinstance(term, kind)
