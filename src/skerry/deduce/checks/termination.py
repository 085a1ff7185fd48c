"""Checks that a recursion ends: it must not make new values for ever. E301.

A value goes from a column of a recursive subgoal into a column of the head, as it is or grown: by arithmetic, by a
built-in function, or wrapped into a list or function symbol. A cycle of such ways in which something grows is refused,
unless

- the head's column has a ``limit``, or comparisons bound the value (above if it is counted up, below if down);
- some stage, rising or falling, is bounded, and the head is at a later one than the subgoal;
- a list takes its new elements from relations outside the recursion, each tied to the element before it by a strict
  comparison or a built-in predicate, which is taken for an order of those elements.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from math import inf
from operator import itemgetter

from skerry.deduce.checks.difference_constraints import Distances
from skerry.deduce.checks.graph import strong_parts
from skerry.deduce.checks.infer_types import Typing
from skerry.deduce.checks.stages import Classified, Progress
from skerry.deduce.checks.strata import Edge, Part
from skerry.deduce.subgoal_order import variables_of
from skerry.errors import RuleError
from skerry.model.term import Term, Terms, Variable, variables
from skerry.plan.program import RANGE, Aggregate, Atom, Builtin, Class, Column, Comparison, Predicate, Rule, Type

__all__ = ["check_termination"]


_Origin = tuple[Edge, int, Variable, int]
"""A recursive subgoal, a column of it, a variable in there, and how deep inside lists and function symbols."""


@dataclass(frozen=True)
class _Way:
    """From a column of a recursive subgoal into a column of a head."""

    edge: Edge
    source: tuple[str, int]
    target: tuple[str, int]
    grows: bool
    deeper: bool = False
    """It is wrapped: a limit, which is on the length of a list, does not bound that."""
    falls: bool = False
    """It is counted down."""


def check_termination(part: Part, classified: Classified, typing: Typing) -> None:
    """Refuse a part that could go on for ever."""
    if classified.component.kind is Class.N:
        return
    edges: dict[int, list[Edge]] = defaultdict(list)
    for edge in part.inside:
        edges[edge.rule.number].append(edge)
    ways = [way for rule in part.rules for way in _Rule(rule, edges[rule.number], typing).ways()]
    growing = list(_circular(ways))
    endless = _reached(ways, {way.target for way in growing})
    if growing and not any(_is_covered(growing, endless, progress) for progress in classified.progress()):
        raise _make_error(growing[0], part, typing)


def _reached(ways: Iterable[_Way], columns: Iterable[tuple[str, int]]) -> set[tuple[str, int]]:
    """Columns into which values of some columns go."""
    found, known = set(columns), list(ways)
    while more := {way.target for way in known if way.source in found} - found:
        found |= more
    return found


def _is_covered(growing: Iterable[_Way], endless: Collection[tuple[str, int]], progress: Progress) -> bool:
    """Whether stages are bounded, and each value grows from one stage to the next alone."""
    bounded = not any(stage in endless for stage in progress.stages.items())
    return bounded and all(progress.gaps.get(way.edge.key, 0) < 0 for way in growing)


def _circular(ways: Iterable[_Way]) -> Iterator[_Way]:
    """Growing ways that are part of a cycle."""
    known = list(ways)
    needs: dict[str, list[str]] = {}
    for way in known:
        needs.setdefault(repr(way.source), []).append(repr(way.target))
        needs.setdefault(repr(way.target), [])
    together = {node: number for number, part in enumerate(strong_parts(needs, needs.__getitem__)) for node in part}
    return (way for way in known if way.grows and together[repr(way.source)] == together[repr(way.target)])


class _Rule:
    def __init__(self, rule: Rule, edges: Iterable[Edge], typing: Typing) -> None:
        self._rule, self._typing = rule, typing
        self._edges = [edge for edge in edges if not edge.subgoal.negated]
        self._atoms = [each for each in rule.body if isinstance(each, Atom) and not each.negated]
        inside = {id(edge.subgoal) for edge in self._edges}
        outside = [atom for atom in self._atoms if id(atom) not in inside]
        self._matched = {variable for atom in self._atoms for variable in variables_of(atom)}
        self._taken_apart = dict(self._find_taken_apart())
        self._matched |= {part for term in self._taken_apart.values() for part in variables(term)}
        self._finite = {variable for atom in outside for variable in variables_of(atom)}
        self._distances = Distances(rule, typing.variables[rule.number], self._find_limited())

    def ways(self) -> Iterator[_Way]:
        """All ways through the rule that are not cut by a bound."""
        if not self._edges:
            return
        origins = list(self._origins())
        written = [argument for atom in self._atoms for argument in atom.arguments]
        for head_column, argument in enumerate(self._rule.head.arguments):
            if argument in written or argument in self._matched:
                yield from self._find_copies(head_column, argument, origins)
            elif isinstance(argument, Variable | Terms):
                yield from self._find_growth(head_column, argument, origins)

    def _find_copies(self, head_column: int, argument: Term | Aggregate, origins: list[_Origin]) -> Iterator[_Way]:
        inside = set() if isinstance(argument, Aggregate) else set(variables(argument)) - self._finite
        for edge, column, origin, _ in origins:
            if origin in inside:
                yield _Way(edge, (edge.subgoal.predicate, column), (self._rule.head.predicate, head_column), False)

    def _find_growth(self, head_column: int, term: Term, origins: list[_Origin]) -> Iterator[_Way]:
        leaves = self._leaves(term)
        limited = self._has_limit(head_column) and not self._falls(term, leaves)
        cut = limited or self._is_bounded(term, leaves) or self._is_ordered(term)
        inside = dict(sorted(_depths(self._meaning(term)), key=itemgetter(1)))
        for edge, column, origin, depth in origins:
            deeper = inside.get(origin, 0) > depth
            if origin in leaves and (deeper or not cut):
                target = (self._rule.head.predicate, head_column)
                falls = self._falls(term, leaves)
                yield _Way(edge, (edge.subgoal.predicate, column), target, True, deeper, falls)

    def _meaning(self, term: Term) -> Term:
        """The list or function symbol that a variable is equal to, if there is one."""
        for each in self._rule.body:
            if isinstance(each, Comparison) and each.operator == "=" and term in (each.left, each.right):
                other = each.right if each.left == term else each.left
                if isinstance(other, Terms):
                    return other
        return term

    def _find_taken_apart(self) -> Iterator[tuple[Variable, Terms]]:
        """Variables of relations that an equation takes apart: that makes nothing larger."""
        for each in self._rule.body:
            if isinstance(each, Comparison) and each.operator == "=":
                for one, other in ((each.left, each.right), (each.right, each.left)):
                    if isinstance(one, Variable) and one in self._matched and isinstance(other, Terms):
                        yield one, other

    def _origins(self) -> Iterator[_Origin]:
        for edge in self._edges:
            for column, argument in enumerate(edge.subgoal.arguments):
                if isinstance(argument, Variable | Terms):
                    for variable, depth in _depths(argument):
                        yield edge, column, variable, depth
                        parts = _depths(self._taken_apart[variable], depth) if variable in self._taken_apart else ()
                        yield from ((edge, column, part, inside) for part, inside in parts)

    def _leaves(self, term: Term) -> set[Variable]:
        """The variables of relations that a term was made from, through the equations of the body."""
        together: dict[Variable, set[Variable]] = defaultdict(set)
        for each in self._rule.body:
            if isinstance(each, Comparison) and each.operator == "=":
                for variable in variables_of(each):
                    together[variable].update(variables_of(each))
        seen, waiting = set[Variable](), set(variables(term))
        while waiting:
            variable = waiting.pop()
            seen.add(variable)
            if variable not in self._matched:
                waiting |= together[variable] - seen
        return seen & self._matched

    def _find_limited(self) -> Iterator[tuple[Variable, int]]:
        for atom in self._atoms:
            for column, greatest in self._typing.predicates[atom.predicate].limits.items():
                argument = atom.arguments[column]
                if isinstance(argument, Variable):
                    yield argument, greatest

    def _has_limit(self, head_column: int) -> bool:
        return head_column in self._typing.predicates[self._rule.head.predicate].limits

    def _is_bounded(self, term: Term, leaves: set[Variable]) -> bool:
        """Whether comparisons hold a computed number below, or if it is counted down above, something finite."""
        if not isinstance(term, Variable):
            return False
        ends = (None, *self._finite)
        if self._falls(term, leaves):
            return self._distances.below_one(term, ends) < inf
        return self._distances.above_one(term, ends) < inf

    def _falls(self, term: Term, leaves: set[Variable]) -> bool:
        """Whether a computed number is never above what it was made from: a limit does not hold it."""
        return isinstance(term, Variable) and self._distances.above_one(term, leaves) <= 0

    def _is_ordered(self, term: Term) -> bool:
        """Whether a list only takes finite elements, each tied to the one before it."""
        if not isinstance(term, Terms) or term.front is None or len(term.items) == 1:
            return False
        ties = [set(variables_of(each)) for each in self._rule.body if _is_tie(each)]
        return all(self._is_tied(before, item, ties) for before, item in pairwise(term.items))

    def _is_tied(self, before: Term, item: Term, ties: list[set[Variable]]) -> bool:
        earlier, added = set(variables(before)), set(variables(item))
        return added <= self._finite and any(tie & added and tie & earlier for tie in ties)


def _depths(term: Term, depth: int = 0) -> Iterator[tuple[Variable, int]]:
    """Variables with the number of lists and function symbols around them; the head of a list is no deeper."""
    if isinstance(term, Variable):
        yield term, depth
    if isinstance(term, Terms):
        if term.front:
            yield term.front, depth
        for item in term.items:
            yield from _depths(item, depth + 1)


def _is_tie(subgoal: object) -> bool:
    match subgoal:
        case Builtin(_, _, negated):
            return not negated
        case Comparison(operator):
            return operator in ("<", ">")
    return False


def _make_error(way: _Way, part: Part, typing: Typing) -> RuleError:
    if way.target[0].startswith(RANGE):
        return _make_range_error(way, part, typing)
    predicate, rule = typing.predicates[way.target[0]], way.edge.rule
    column = predicate.columns[way.target[1]]
    message = f"the recursion makes ever new values in column {column.name!r} of {predicate.name!r}"
    fix = f"compare it, as in {column.name} > 0" if way.falls else _fix(predicate, column, way.deeper)
    return RuleError("E301", message, fix, rule.number, rule.head.location or rule.location)


def _make_range_error(way: _Way, part: Part, typing: Typing) -> RuleError:
    """Of rules that a range was spelled out into: it is named after the number of the rule that it stands in."""
    number = int(way.target[0].removeprefix(RANGE).partition(".")[0])
    head = next(typing.predicates[rule.head.predicate] for rule in part.rules if rule.number == number)
    message = f"a range takes its ends from {head.name!r}, which takes values from the range: it may never end"
    fix = "give it ends that do not change, as in n in range(0, 3), y = x + n, y < 100"
    return RuleError("E301", message, fix, number, way.edge.rule.location)


def _fix(predicate: Predicate, column: Column, deeper: bool) -> str:
    if deeper or column.type in (Type.ANY, Type.STRING, Type.POINT, Type.NODE):
        return "count the rounds in a column of its own, and declare a limit on that"
    limit = f"limit {column.name} <= 100"
    columns = ", ".join(f"{each.name}: {each.type}" for each in predicate.columns)
    return f"declare it: {limit if predicate.declared else f'derived {predicate.name}({columns}) {limit}'}"
