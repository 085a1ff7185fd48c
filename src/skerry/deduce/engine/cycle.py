"""A cycle of tuples that need each other through NOT or an aggregate, in words."""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from skerry.deduce.rule_text import write_value
from skerry.errors import RuleLimit
from skerry.model.arrays import Int64s
from skerry.model.term import Value
from skerry.plan.program import Dependency

__all__ = ["Cycle", "Need", "write_tuple"]

_SHOWN = 6
"""Of a long cycle, so many tuples are named."""


class Need(NamedTuple):
    """A node that needs another, and by which subgoal."""

    node: int
    needed: int
    by: Dependency


class Cycle:
    """The shortest cycle that begins with a given need."""

    def __init__(self, first: Need, needs: Sequence[tuple[Dependency, Int64s, Int64s]]) -> None:
        self._needs = [first, *_find_way(first.needed, first.node, needs)]

    def make_error(self, write: Callable[[int], str]) -> RuleLimit:
        """The error that names its tuples, in order."""
        said = [write(self._needs[0].node)]
        for need in self._needs[:_SHOWN]:
            through = "NOT " if _is_negated(need.by) else "an aggregate of " if need.by.negative else ""
            said.append(f"needs {through}{write(need.needed)}")
        more = [f"and so on through {len(self._needs) - _SHOWN} more"] if len(self._needs) > _SHOWN else []
        message = f"{said[0]} {', which '.join([*said[1:], *more])}: no order settles these tuples"
        fix = "leave out such facts, or use a column that grows from round to round: stage d"
        rule = self._needs[0].by.rule
        return RuleLimit(message, fix, rule.number, "E201")


def _is_negated(dependency: Dependency) -> bool:
    return dependency.negative and not dependency.rule.aggregates


def write_tuple(predicate: str, values: Mapping[int, Value], arity: int) -> str:
    """A tuple of which some values are known.

    >>> write_tuple("cost", {0: "wheel"}, 2)
    "cost('wheel', _)"
    """
    return f"{predicate}({', '.join(write_value(values[index]) if index in values else '_' for index in range(arity))})"


def _find_way(start: int, end: int, needs: Sequence[tuple[Dependency, Int64s, Int64s]]) -> list[Need]:
    """The shortest way from one node to another, breadth first."""
    ways: dict[int, list[Need]] = {}
    for by, nodes, needed in needs:
        for node, other in zip(nodes.tolist(), needed.tolist(), strict=True):
            ways.setdefault(node, []).append(Need(node, other, by))
    reached: dict[int, Need | None] = {start: None}
    waiting = deque([start])
    while waiting and end not in reached:
        for need in ways.get(waiting.popleft(), ()):
            if need.needed not in reached:
                reached[need.needed] = need
                waiting.append(need.needed)
    way, last = list[Need](), reached[end]
    while last is not None:
        way.append(last)
        last = reached[last.node]
    return way[::-1]
