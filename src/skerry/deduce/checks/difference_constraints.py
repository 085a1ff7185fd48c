"""How far apart two values of a rule can be, from its equations and comparisons.

Each of these that relates two variables is a difference constraint, ``x - y <= c``; the least upper bound of
``x - y`` is the shortest way from y to x in the graph of all of them (Bellman-Ford). Lists count by their length.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from skerry.model.term import Arithmetic, Constant, Duration, Term, Terms, Variable, variables
from skerry.plan.program import Comparison, Rule, Type

__all__ = ["Distances", "LinearTerm", "as_linear"]

_WHOLE = (Type.INT, Type.TIME, Type.LIST)
_SECOND_US = 1_000_000
_LARGE = 2**80


@dataclass(frozen=True)
class LinearTerm:
    """A value as a variable plus a number; without a variable, the number alone."""

    variable: Variable | None
    offset: float


def as_linear(term: object) -> LinearTerm | None:
    """A term that counts as a number, or by its length as a list; None for any other."""
    match term:
        case Variable():
            return LinearTerm(term, 0)
        case Constant(tuple() as items):
            return LinearTerm(None, len(items))
        case Constant(int() | float() as number) if not isinstance(number, bool):
            return LinearTerm(None, number)
        case Terms(items, None, front):
            return LinearTerm(front, len(items))
    return None


@dataclass(frozen=True)
class _Sum:
    """Variables with whole coefficients, and a number between two ends (a duration depends on the unit of time)."""

    coefficients: Mapping[Variable, int]
    low: float
    high: float

    @property
    def is_small(self) -> bool:
        """Whether one can go on computing with it; a stage is never far from such numbers."""
        return all(abs(number) < _LARGE for number in (self.low, self.high, *self.coefficients.values()))

    def times(self, factor: int) -> "_Sum":
        ends = sorted((self.low * factor, self.high * factor))
        return _Sum({name: count * factor for name, count in self.coefficients.items()}, *ends)

    def plus(self, other: "_Sum") -> "_Sum":
        names = {*self.coefficients, *other.coefficients}
        counts = {name: self.coefficients.get(name, 0) + other.coefficients.get(name, 0) for name in names}
        kept = {name: count for name, count in counts.items() if count}
        return _Sum(kept, self.low + other.low, self.high + other.high)


class Distances:
    """The difference constraints of one rule."""

    def __init__(self, rule: Rule, types: Mapping[Variable, Type], limits: Iterable[tuple[Variable, int]] = ()) -> None:
        self._types = types
        self._reached: dict[frozenset[Variable | None], dict[Variable | None, float]] = {}
        self._ways: dict[tuple[Variable | None, Variable | None], float] = {}
        for subgoal in rule.body:
            if isinstance(subgoal, Comparison):
                self._compare(subgoal)
        for variable, greatest in limits:
            self._add(variable, None, greatest)
        for subgoal in rule.body:
            if isinstance(subgoal, Comparison) and subgoal.operator == "=":
                self._divide(subgoal.left, subgoal.right)
                self._divide(subgoal.right, subgoal.left)

    def above(self, upper: LinearTerm, lower: LinearTerm) -> float:
        """How far ``upper`` can at most be above ``lower``; infinite if nothing bounds it."""
        reached = self._reach(frozenset({lower.variable}))
        return reached.get(upper.variable, math.inf) + upper.offset - lower.offset

    def above_one(self, upper: Variable, lower: Iterable[Variable | None]) -> float:
        """How far a variable can at most be above the one of others that bounds it best; None stands for zero."""
        return self._reach(frozenset(lower)).get(upper, math.inf)

    def below_one(self, lower: Variable, upper: Iterable[Variable | None]) -> float:
        """How far the one of several variables that is bounded best can at most be above another."""
        reached = self._reach(frozenset({lower}))
        return min((reached.get(each, math.inf) for each in upper), default=math.inf)

    def _reach(self, start: frozenset[Variable | None]) -> dict[Variable | None, float]:
        if start not in self._reached:
            self._reached[start] = self._shortest(start)
        return self._reached[start]

    def _shortest(self, start: frozenset[Variable | None]) -> dict[Variable | None, float]:
        """The shortest ways from any of these. Where constraints contradict each other, the rule never fires."""
        found: dict[Variable | None, float] = dict.fromkeys(start, 0)
        for _ in range(len(self._ways) + 1):
            changed = False
            for (source, target), length in self._ways.items():
                if source in found and found[source] + length < found.get(target, math.inf):
                    found[target] = found[source] + length
                    changed = True
            if not changed:
                return found
        return dict.fromkeys(found, -math.inf)

    def _compare(self, comparison: Comparison) -> None:
        left, right = self._sum(comparison.left), self._sum(comparison.right)
        if left is None or right is None or not (left.is_small and right.is_small):
            return
        if comparison.operator != "=" and self._compares_lists(comparison):
            return
        match comparison.operator:
            case "<" | "<=":
                self._at_most(left, right, strict=comparison.operator == "<")
            case ">" | ">=":
                self._at_most(right, left, strict=comparison.operator == ">")
            case "=":
                self._at_most(left, right)
                self._at_most(right, left)

    def _divide(self, result: Term, division: Term) -> None:
        """A rest is below the divisor; what was not below zero is not above itself when it has been divided."""
        match division:
            case Arithmetic("%", value, Constant(int() as divisor)) if divisor > 0 and self._is_whole(value):
                self._bound(result, None, divisor - 1)
            case Arithmetic("//", Variable() as value, Constant(int() as divisor)) if divisor > 0:
                if self._is_whole(value) and self.above(LinearTerm(None, 0), LinearTerm(value, 0)) <= 0:
                    self._bound(result, value, 0)

    def _bound(self, result: Term, upper: Variable | None, most: int) -> None:
        """A variable is not below zero, nor above another by more than so much."""
        self._reached.clear()
        if isinstance(result, Variable):
            self._add(None, result, 0)
            self._add(result, upper, most)

    def _is_whole(self, term: Term) -> bool:
        return all(self._types.get(variable) in (Type.INT, Type.TIME) for variable in variables(term))

    def _compares_lists(self, comparison: Comparison) -> bool:
        """Whether it compares lists, whose order is not that of their lengths."""
        sides = (comparison.left, comparison.right)
        held = (self._types.get(side) for side in sides if isinstance(side, Variable))
        written = (side.value for side in sides if isinstance(side, Constant))
        return (
            any(isinstance(side, Terms) for side in sides)
            or any(isinstance(value, tuple) for value in written)
            or any(found in (Type.LIST, Type.POINT) for found in held)
        )

    def _at_most(self, left: _Sum, right: _Sum, strict: bool = False) -> None:
        difference = left.plus(right.times(-1))
        plus: list[Variable | None] = [name for name, count in difference.coefficients.items() if count == 1]
        minus: list[Variable | None] = [name for name, count in difference.coefficients.items() if count == -1]
        if len(plus) > 1 or len(minus) > 1 or len(plus) + len(minus) < len(difference.coefficients):
            return
        whole = all(self._types.get(name) in _WHOLE for name in difference.coefficients)
        most = -difference.low
        if whole:
            most = math.ceil(most) - 1 if strict else math.floor(most)
        self._add((plus or [None])[0], (minus or [None])[0], most)

    def _add(self, upper: Variable | None, lower: Variable | None, most: float) -> None:
        way = (lower, upper)
        self._ways[way] = min(self._ways.get(way, math.inf), most)

    def _sum(self, term: Term) -> _Sum | None:
        match term:
            case Duration(microseconds):
                return _Sum({}, microseconds // _SECOND_US, microseconds)
            case Arithmetic(operator, left, right):
                return _combine(operator, self._sum(left), self._sum(right))
        linear = as_linear(term)
        if linear is None:
            return None
        return _Sum({linear.variable: 1} if linear.variable else {}, linear.offset, linear.offset)


def _combine(operator: str, left: _Sum | None, right: _Sum | None) -> _Sum | None:
    if left is None or right is None or not (left.is_small and right.is_small):
        return None
    match operator:
        case "+":
            return left.plus(right)
        case "-":
            return left.plus(right.times(-1))
        case "*":
            return _multiply(left, right) or _multiply(right, left)
    return None


def _multiply(factor: _Sum, other: _Sum) -> _Sum | None:
    fixed = not factor.coefficients and factor.low == factor.high and factor.low == int(factor.low)
    return other.times(int(factor.low)) if fixed else None
