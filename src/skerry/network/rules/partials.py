"""Partial results: some subgoals of a rule joined, the others still to be found on other motes."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, cast

from skerry.deduce.evaluate import Binding, match_patterns
from skerry.deduce.subgoal_order import Check, variables_of
from skerry.model.term import Term
from skerry.network.rules.join import Found, Join
from skerry.network.rules.node_program import NodeRule, TupleId
from skerry.network.rules.packing import pack, unpack
from skerry.network.rules.ranges import identify, order_with_ranges
from skerry.network.rules.store import Stored
from skerry.plan.program import Atom

__all__ = ["Cause", "Partial", "Stamp", "begin", "complete", "extend", "read_partial", "stamp_of"]

Stamp = tuple[int, int, int]
"""Local time, mote, number: the order of insertions and deletions."""


def stamp_of(identity: TupleId) -> Stamp:
    """When a tuple was inserted."""
    mote, time, number = identity
    return time, mote, number


@dataclass(frozen=True)
class Cause:
    """The insertion or deletion that a join is about: which tuple, at which subgoal of the rule, and when."""

    identity: TupleId
    start: int
    is_insertion: bool
    stamp: Stamp

    def to_plain(self) -> tuple[Any, ...]:
        """As plain data, for a message."""
        return (self.identity, self.start, self.is_insertion, self.stamp)

    def may_join(self, stored: Stored, subgoal: int) -> bool:
        """Whether a tuple belongs to this join: it is older. So a derivation is found once, by its youngest tuple.

        Of one time with a deletion, a tuple may be older: to withdraw what was never claimed does no harm.
        """
        if stored.id == self.identity:
            return subgoal > self.start
        return stamp_of(stored.id) < self.stamp if self.is_insertion else stored.id[1] <= self.stamp[0]


@dataclass(frozen=True)
class Partial:
    """The tuples found so far, by subgoal, and what they bind."""

    rule: NodeRule
    cause: Cause
    ids: tuple[TupleId | None, ...]
    binding: Binding
    expiry_us: int | None

    @property
    def missing(self) -> tuple[int, ...]:
        """The subgoals that are still to be found."""
        return tuple(index for index, identity in enumerate(self.ids) if identity is None)

    def add(self, subgoal: int, stored: Stored, binding: Binding) -> "Partial":
        """With one more tuple."""
        ends = [end for end in (self.expiry_us, stored.expiry_us) if end is not None]
        ids = (*self.ids[:subgoal], stored.id, *self.ids[subgoal + 1 :])
        return replace(self, ids=ids, binding=binding, expiry_us=min(ends, default=None))

    def to_plain(self) -> tuple[Any, ...]:
        """As plain data, for a message."""
        names = tuple(sorted(self.binding))
        return (self.ids, names, pack(tuple(self.binding[name] for name in names)), self.expiry_us)


def begin(rule: NodeRule, cause: Cause, stored: Stored, join: Join) -> Partial | None:
    """The partial result of one tuple; None if it does not fit its subgoal."""
    atom = rule.positives[cause.start]
    binding = match_patterns(cast(tuple[Term, ...], atom.arguments), stored.row, {})
    if binding is None:
        return None
    ids = tuple(stored.id if subgoal == cause.start else None for subgoal in range(len(rule.positives)))
    partial = Partial(rule, cause, ids, binding, stored.expiry_us)
    return partial if _passes(partial, join) else None


def read_partial(rule: NodeRule, cause: tuple[Any, ...], plain: tuple[Any, ...]) -> Partial:
    """A partial result from plain data."""
    ids, names, values, expiry_us = plain
    return Partial(rule, Cause(*cause), ids, dict(zip(names, unpack(values), strict=True)), expiry_us)


def extend(partial: Partial, subgoal: int, join: Join, own: bool) -> Iterator[Partial]:
    """A partial result with each tuple that a mote has for one more subgoal; if asked, those that live there alone.

    A deletion also finds tuples that were deleted meanwhile: the one that comes to a home last withdraws.
    """
    atom: Atom = partial.rule.positives[subgoal]
    for stored, binding in join.match(atom, partial.binding, own, dropped=not partial.cause.is_insertion):
        if partial.cause.may_join(stored, subgoal):
            longer = partial.add(subgoal, stored, binding)
            if _passes(longer, join):
                yield longer


def complete(partial: Partial, join: Join) -> Iterator[Found]:
    """What a partial result with all subgoals amounts to: nothing if a condition fails."""
    ids = tuple(identity for identity in partial.ids if identity is not None)
    rule = partial.rule
    ordered = order_with_ranges(rule.conditions, rule.ranges, partial.binding)
    for binding in join.solutions(ordered, partial.binding):
        yield Found((*ids, *identify(rule.ranges, binding)), binding, partial.expiry_us)


def _passes(partial: Partial, join: Join) -> bool:
    """Whether the conditions hold whose variables are bound."""
    bound = (
        condition
        for condition in partial.rule.conditions
        if all(variable.name in partial.binding for variable in variables_of(condition))
    )
    return all(next(join.solver.take_step(Check(each), partial.binding), None) is not None for each in bound)
