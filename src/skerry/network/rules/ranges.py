"""Ranges on motes: the numbers of ``x in range(low, high)`` are counted where a rule is joined, and cost no message.

In one process a range is three rules (``lang.rules.ranges``). On motes, their tuples would live somewhere, and travel.
"""

from collections.abc import Iterable, Iterator, Sequence

from skerry.deduce.evaluate import Binding, Evaluator
from skerry.deduce.subgoal_order import Step, order_partly
from skerry.errors import RuleLimit
from skerry.model.term import Variable, variables
from skerry.network.rules.node_program import EVERYWHERE, Range, TupleId
from skerry.plan.program import RANGE, Atom, Comparison, Rule, Subgoal

__all__ = ["count_up", "identify", "list_ranges", "order_with_ranges"]

_MOST = 1_000_000
"""So many numbers a range has at most: as many as a predicate has tuples, unless a program says otherwise."""


def list_ranges(rule: Rule, rules: Iterable[Rule]) -> tuple[Range, ...]:
    """The ranges of a rule: what holds the number, counted from zero, and how many there are.

    The latter is computed as the rule does that says for which ends numbers are asked for.
    """
    atoms = [each for each in rule.body if isinstance(each, Atom) and each.predicate.startswith(RANGE)]
    return tuple(_read(atom, rules) for atom in atoms)


def _read(atom: Atom, rules: Iterable[Rule]) -> Range:
    index = atom.arguments[-1]
    asked = next(
        each.body[0].predicate
        for each in rules
        if each.head.predicate == atom.predicate and len(each.body) == 2 and isinstance(each.body[0], Atom)
    )
    asking = next(each for each in rules if each.head.predicate == asked)
    count = asking.head.arguments[-1]
    computed = (each.right for each in asking.body if isinstance(each, Comparison) and each.left == count)
    assert isinstance(index, Variable)
    return Range(index, next(computed))


def order_with_ranges(
    body: Iterable[Subgoal], ranges: Sequence[Range], bound: Iterable[str]
) -> tuple[Step | Range, ...]:
    """An order for the body of a checked rule: numbers are counted when nothing else can be taken before."""
    known, waiting, left, taken = frozenset(map(Variable, bound)), tuple(body), list(ranges), list[Step | Range]()
    while True:
        steps, waiting, known = order_partly(waiting, known)
        taken += steps
        if not left:
            break
        ready = next(each for each in left if known.issuperset(variables(each.count)))
        left.remove(ready)
        taken.append(ready)
        known |= {ready.index}
    if waiting:
        raise ValueError("no order of these subgoals binds all variables", body)
    return tuple(taken)


def count_up(counted: Range, evaluator: Evaluator, binding: Binding) -> Iterator[Binding]:
    """A binding with each number of a range; none where an end is no number."""
    count = evaluator.value(counted.count, binding)
    if not isinstance(count, int | float) or isinstance(count, bool):
        return
    if count > _MOST:
        raise RuleLimit(f"a range has {count:,} numbers, more than {_MOST:,}", "compare the ends before")
    index = 0
    while index < count:
        yield {**binding, counted.index.name: index}
        index += 1


def identify(ranges: Sequence[Range], binding: Binding) -> tuple[TupleId, ...]:
    """What tells apart the derivations that differ in numbers of ranges alone."""
    return tuple((EVERYWHERE, -1, _whole(binding[each.index.name])) for each in ranges)


def _whole(value: object) -> int:
    assert isinstance(value, int)
    return value
