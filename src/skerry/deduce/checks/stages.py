"""XY-stratification: recursion through NOT or an aggregate is sound where a stage settles it. E201 to E203.

For each predicate of a part one column is its stage: a whole number, or a list's length. A recursive subgoal must never
be at a later stage than the head. Those at an earlier one need no further thought; what is left, within one stage, must
be free of cycles (class X), or of cycles through negation (class Y). Stages rise from subgoal to head, or they fall in
all rules of a part.

Where no column will do, the facts decide (class L): see ``ground_graph``.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, islice
from math import inf

from skerry.deduce.checks.difference_constraints import Distances, as_linear
from skerry.deduce.checks.graph import strong_parts
from skerry.deduce.checks.ground_graph import find_known_columns, needs_itself
from skerry.deduce.checks.infer_types import Typing
from skerry.deduce.checks.strata import Edge, Part
from skerry.deduce.rule_text import write_original
from skerry.errors import Location, RuleError
from skerry.plan.program import RANGE, Class, Component, Predicate, Type

__all__ = ["Classified", "Progress", "classify"]

_WHOLE = (Type.INT, Type.TIME, Type.LIST)
_MOST_TRIES = 20_000
_MOST_CHOICES = 64
_MOST_NAMES = 5

Choice = Mapping[str, int]


@dataclass(frozen=True)
class Progress:
    """A choice of stages, and how far each recursive subgoal is at most behind its head, by the key of the edge."""

    stages: Choice
    gaps: Mapping[tuple[int, int], float]
    """Below zero, the subgoal is at an earlier stage."""


@dataclass(frozen=True)
class Classified:
    """A component, and in which ways its recursion goes on from stage to stage."""

    component: Component
    progress: Callable[[], Iterator[Progress]] = lambda: iter(())
    """All choices of stages at which no subgoal is behind its head. The component need not be settled by them."""


def classify(part: Part, typing: Typing) -> Classified:
    """Find the class of a part, or raise the reason why it is refused."""
    _check_declared(part, typing)
    if not part.inside:
        return Classified(_plain(part, Class.N))
    rising, falling = _Stages(part, typing), _Stages(part, typing, falling=True)
    return Classified(_component(part, rising, falling), lambda: chain(rising.progress(), falling.progress()))


def _component(part: Part, rising: "_Stages", falling: "_Stages") -> Component:
    is_bound = part.negative is not None or bool(rising.pinned)
    best = rising.best()
    if best and (best.kind is Class.X or is_bound):
        return best
    if not is_bound:
        return _plain(part, Class.S)
    best = falling.best()
    if best:
        return best
    if rising.pinned:
        raise rising.refusal()
    return _settled_by_facts(part, rising)


def _settled_by_facts(part: Part, stages: "_Stages") -> Component:
    """Let the facts decide, unless each tuple would need itself whatever they are."""
    known = find_known_columns(part)
    if needs_itself(part, known):
        raise stages.refusal()
    groups = tuple((name,) for name in part.predicates)
    return Component(part.predicates, part.rules, Class.L, part.stratum, groups=groups, known=known)


def _plain(part: Part, kind: Class) -> Component:
    return Component(part.predicates, part.rules, kind, part.stratum, groups=(part.predicates,))


def _check_declared(part: Part, typing: Typing) -> None:
    for name in part.predicates:
        predicate = typing.predicates[name]
        if predicate.stage is not None and predicate.columns[predicate.stage].type not in _WHOLE:
            column = predicate.columns[predicate.stage]
            message = f"stage {column.name!r} of {name!r} is {column.type}"
            raise RuleError("E203", message, "a stage is an int, a time or a list", None, predicate.location)


class _Stages:
    """The search for a stage for each predicate of a part: all of them rise, or all fall."""

    def __init__(self, part: Part, typing: Typing, falling: bool = False) -> None:
        self._part, self._typing, self._falling = part, typing, falling
        self._columns = {name: list(_candidates(typing.predicates[name])) for name in part.predicates}
        self._distances = {
            edge.rule.number: Distances(edge.rule, typing.variables[edge.rule.number]) for edge in part.inside
        }
        self._touching: dict[str, list[Edge]] = defaultdict(list)
        for edge in part.inside:
            for name in {edge.rule.head.predicate, edge.subgoal.predicate}:
                self._touching[name].append(edge)
        self._gaps: dict[tuple[tuple[int, int], int, int], float] = {}
        self.pinned = [name for name in part.predicates if typing.predicates[name].stage is not None]

    def best(self) -> Component | None:
        """The first choice of class X, else the first of class Y."""
        found = None
        for choice in islice(self._choices(), _MOST_CHOICES):
            component = self._component(choice)
            if component and component.kind is Class.X:
                return component
            found = found or component
        return found

    def progress(self) -> Iterator[Progress]:
        """All choices, as far as they are looked at."""
        for choice in islice(self._choices(), _MOST_CHOICES):
            gaps = zip(self._part.inside, self._list_gaps(choice), strict=True)
            yield Progress(choice, {edge.key: gap for edge, gap in gaps})

    def refusal(self) -> RuleError:
        """Why no choice will do: a declared stage that fails, or none at all."""
        for edge in self._part.inside if self.pinned else ():
            gaps = [self._gap(edge, *columns) for columns in self._pairs(edge)]
            if min(gaps, default=inf) > 0:
                return _too_late(edge, min(gaps, default=inf), self._typing)
        edge = self._part.negative or self._part.inside[0]
        names = [name for name in self._part.predicates if not name.startswith("$")]
        listed = ", ".join(names[:_MOST_NAMES]) + (", ..." if len(names) > _MOST_NAMES else "")
        why = f"{listed} need each other" if len(names) > 1 else f"{listed} needs itself"
        message = f"{why} through {_through(edge)}, and no stage settles it"
        fix = "use a column that grows from round to round, and declare it: stage d"
        return RuleError("E202" if self.pinned else "E201", message, fix, edge.rule.number, _location(edge))

    def _choices(self) -> Iterator[Choice]:
        """Choices with no subgoal later than its head, column by column; a large part is given up after a while."""
        names = self._part.predicates
        chosen: dict[str, int] = {}
        waiting = [iter(self._columns[names[0]])]
        for _ in range(_MOST_TRIES):
            name = names[len(waiting) - 1]
            chosen.pop(name, None)
            column = next(waiting[-1], None)
            if column is None:
                waiting.pop()
                if not waiting:
                    return
                continue
            chosen[name] = column
            if not self._is_allowed(chosen, name):
                continue
            if len(waiting) == len(names):
                yield dict(chosen)
            else:
                waiting.append(iter(self._columns[names[len(waiting)]]))

    def _is_allowed(self, choice: Choice, last: str) -> bool:
        return all(
            self._gap(edge, choice[edge.rule.head.predicate], choice[edge.subgoal.predicate]) <= 0
            for edge in self._touching[last]
            if edge.rule.head.predicate in choice and edge.subgoal.predicate in choice
        )

    def _component(self, choice: Choice) -> Component | None:
        kept = [edge for edge, gap in zip(self._part.inside, self._list_gaps(choice), strict=True) if gap == 0]
        needs: dict[str, list[str]] = {name: [] for name in choice}
        for edge in kept:
            needs[edge.rule.head.predicate].append(edge.subgoal.predicate)
        groups = strong_parts(self._part.predicates, needs.__getitem__)
        together = {name: number for number, group in enumerate(groups) for name in group}
        circular = [edge for edge in kept if together[edge.subgoal.predicate] == together[edge.rule.head.predicate]]
        if any(edge.negative for edge in circular):
            return None
        kind = Class.Y if circular else Class.X
        order = tuple(name for group in groups for name in group)
        stratum = self._part.stratum
        return Component(order, self._part.rules, kind, stratum, dict(choice), tuple(groups), self._falling)

    def _list_gaps(self, choice: Choice) -> list[float]:
        inside = self._part.inside
        return [self._gap(edge, choice[edge.rule.head.predicate], choice[edge.subgoal.predicate]) for edge in inside]

    def _pairs(self, edge: Edge) -> Iterator[tuple[int, int]]:
        for head in self._columns[edge.rule.head.predicate]:
            yield from ((head, subgoal) for subgoal in self._columns[edge.subgoal.predicate])

    def _gap(self, edge: Edge, head: int, subgoal: int) -> float:
        """How far the stage of the subgoal can be behind that of the head: above it, or if stages fall below it."""
        key = (edge.key, head, subgoal)
        if key not in self._gaps:
            upper = as_linear(edge.subgoal.arguments[subgoal])
            lower = as_linear(edge.rule.head.arguments[head])
            upper, lower = (lower, upper) if self._falling else (upper, lower)
            distances = self._distances[edge.rule.number]
            self._gaps[key] = distances.above(upper, lower) if upper and lower else inf
        return self._gaps[key]


def _candidates(predicate: Predicate) -> Iterator[int]:
    if predicate.stage is not None:
        yield predicate.stage
    else:
        yield from (index for index, column in enumerate(predicate.columns) if column.type in _WHOLE)


def _too_late(edge: Edge, gap: float, typing: Typing) -> RuleError:
    head = typing.predicates[edge.rule.head.predicate]
    column = head.columns[head.stage].name if head.stage is not None else "the head"
    amount = "by any amount" if gap == inf else f"by {gap:g}"
    message = f"{write_original(edge.subgoal, edge.rule)} may be at a later stage than {column}, {amount}"
    fix = "compare the two stages, or compute the head's from the subgoal's"
    return RuleError("E202", message, fix, edge.rule.number, _location(edge))


def _through(edge: Edge) -> str:
    if edge.subgoal.negated:
        return f"NOT {edge.subgoal.predicate.lstrip('$')}" if edge.subgoal.predicate[0] != "$" else "NOT"
    if edge.subgoal.predicate.startswith(RANGE):
        return "a range"
    return "an aggregate" if edge.negative else edge.subgoal.predicate


def _location(edge: Edge) -> Location | None:
    return edge.subgoal.location or edge.rule.location
