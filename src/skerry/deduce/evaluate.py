"""What terms stand for under a binding of their variables, and what a value tells of the variables in a term."""

from collections.abc import Iterable, Sequence
from typing import Protocol

from skerry.deduce.values import Row, calculate, compare, key
from skerry.model.term import Arithmetic, Call, Compound, Constant, Duration, Term, Terms, Value, Variable
from skerry.plan.program import in_units

__all__ = ["Binding", "Calls", "Evaluator", "match_pattern", "match_patterns"]

Binding = dict[str, Value]


class Calls(Protocol):
    """Whoever calls Python's functions for a program."""

    def call(self, name: str, rows: Sequence[Row]) -> Sequence[Value | None]:
        """One result per row of arguments; None where there is none."""


class Evaluator:
    """Turns terms into values. ``unit`` is how many of the program's units of time a second has."""

    def __init__(self, calls: Calls, unit: int = 1) -> None:
        self._calls, self._unit = calls, unit

    def value(self, term: Term, binding: Binding) -> Value | None:
        """What a term stands for under a binding that knows its variables; None where it has no value."""
        match term:
            case Variable(name):
                return binding[name]
            case Constant(constant):
                return constant
            case Duration(microseconds):
                return in_units(microseconds, self._unit)
            case Arithmetic(operator, left, right):
                first, second = self.value(left, binding), self.value(right, binding)
                return None if first is None or second is None else calculate(operator, first, second)
            case Call(name, arguments):
                row = self.row(arguments, binding)
                return None if row is None else self._calls.call(name, [row])[0]
        return self._compose(term, binding)

    def row(self, terms: Iterable[Term], binding: Binding) -> Row | None:
        """What several terms stand for; None where one has no value."""
        row: list[Value] = []
        for term in terms:
            value = self.value(term, binding)
            if value is None:
                return None
            row.append(value)
        return tuple(row)

    def _compose(self, term: Terms, binding: Binding) -> Value | None:
        items = self.row(term.items, binding)
        if items is None:
            return None
        if term.name is not None:
            return Compound(term.name, items)
        front = binding[term.front.name] if term.front else ()
        return front + items if isinstance(front, tuple) else None


def match_pattern(pattern: Term, value: Value, binding: Binding) -> Binding | None:
    """Take a value apart by a pattern: the binding with what that binds, None if it does not fit.

    >>> x, r = Variable("x"), Variable("r")
    >>> match_pattern(Terms((r,), front=x), (1, 2, 3), {})
    {'x': (1, 2), 'r': 3}
    """
    match pattern:
        case Variable(name):
            if name in binding:
                return binding if _same(binding[name], value) else None
            return {**binding, name: value}
        case Constant(constant):
            return binding if _same(constant, value) else None
        case Terms(items, None, front) if isinstance(value, tuple):
            rest = len(value) - len(items)
            if rest < 0 or (rest and front is None):
                return None
            found = match_pattern(front, value[:rest], binding) if front else binding
            return match_patterns(items, value[rest:], found)
        case Terms(items, name) if isinstance(value, Compound):
            fits = value.name == name and len(value.arguments) == len(items)
            return match_patterns(items, value.arguments, binding) if fits else None
    return None


def match_patterns(patterns: Sequence[Term], values: Sequence[Value], binding: Binding | None) -> Binding | None:
    """Take several values apart, one after the other."""
    for pattern, value in zip(patterns, values, strict=True):
        if binding is None:
            return None
        binding = match_pattern(pattern, value, binding)
    return binding


def _same(left: Value, right: Value) -> bool:
    """Equal, or numbers of columns of two types that count the same."""
    return key(left) == key(right) or (
        isinstance(left, float) != isinstance(right, float) and compare("=", left, right)
    )
