"""Which predicates need each other, and in which order they can be settled."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from skerry.deduce.checks.graph import strong_parts
from skerry.plan.program import Atom, Rule

__all__ = ["Edge", "Part", "find_parts"]


@dataclass(frozen=True)
class Edge:
    """A rule whose head needs a subgoal. Negative: the subgoal must be settled first, for NOT or for an aggregate."""

    rule: Rule
    subgoal: Atom
    key: tuple[int, int]
    """The rule's number, and the subgoal's index in its body."""
    negative: bool


@dataclass(frozen=True)
class Part:
    """Predicates that need each other, the rules that derive them, and the edges among them."""

    predicates: tuple[str, ...]
    rules: tuple[Rule, ...]
    stratum: int
    inside: tuple[Edge, ...]

    @property
    def negative(self) -> Edge | None:
        """An edge through NOT or an aggregate inside, if there is one."""
        return next((edge for edge in self.inside if edge.negative), None)


def find_parts(rules: Sequence[Rule]) -> list[Part]:
    """The parts of a program, each after those it needs.

    The stratum of a part is that of its positive subgoals, or one above its negative ones, whichever is more.
    """
    by_head: dict[str, list[Rule]] = defaultdict(list)
    for rule in rules:
        by_head[rule.head.predicate].append(rule)
    needs = {
        name: [edge.subgoal.predicate for rule in found for edge in _edges(rule)] for name, found in by_head.items()
    }
    strata: dict[str, int] = {}
    result = []
    for names in strong_parts(by_head, lambda name: (needed for needed in needs[name] if needed in by_head)):
        part = _part(names, by_head, strata)
        strata.update(dict.fromkeys(names, part.stratum))
        result.append(part)
    return result


def _part(names: tuple[str, ...], by_head: dict[str, list[Rule]], strata: dict[str, int]) -> Part:
    rules = sorted((rule for name in names for rule in by_head[name]), key=lambda rule: rule.number)
    edges = [edge for rule in rules for edge in _edges(rule)]
    members = set(names)
    outside = [edge for edge in edges if edge.subgoal.predicate not in members]
    stratum = max((strata.get(edge.subgoal.predicate, 0) + edge.negative for edge in outside), default=0)
    return Part(names, tuple(rules), stratum, tuple(edge for edge in edges if edge.subgoal.predicate in members))


def _edges(rule: Rule) -> Iterator[Edge]:
    for index, subgoal in enumerate(rule.body):
        if isinstance(subgoal, Atom):
            yield Edge(rule, subgoal, (rule.number, index), subgoal.negated or rule.aggregates)
