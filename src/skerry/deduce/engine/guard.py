"""Watches what a tick takes: time and memory."""

import time
from collections.abc import Callable, Collection, Mapping

from skerry.deduce.allowance import Allowance
from skerry.deduce.engine.encoding import Encoding
from skerry.deduce.engine.relation import Relation
from skerry.deduce.limits import out_of_memory, out_of_time, too_many_tuples
from skerry.plan.program import Rule

__all__ = ["Guard"]

_PAUSE_SECONDS = 0.01
"""Memory is counted no more often: it takes some microseconds per relation."""


class Guard:
    """Raises E401 when a tick has taken more than the program is allowed.

    The time that a tick may take by default grows with the tuples that are derived or dropped in it, so they are
    counted when it is up. Memory is counted, not measured: the rows of all relations, and the values they stand for.
    """

    def __init__(
        self, allowed: Allowance, relations: Mapping[str, Relation], encoding: Encoding, base: Collection[str] = ()
    ) -> None:
        self.allowed, self._relations, self._encoding = allowed, relations, encoding
        self._derived = [relation for name, relation in relations.items() if name not in base]
        self._start = self._end = self._next_count = 0.0
        self.watch: Callable[[str, int], None] | None = None
        """Is told now and then which predicate is being derived, and how many tuples it has."""

    def begin(self) -> None:
        """A tick begins."""
        self._start = time.monotonic()
        self._end = self._start + self.allowed.seconds

    def check(self, rule: Rule) -> None:
        """Between pieces of a rule's work: is there time and memory left?"""
        now = time.monotonic()
        if now > self._end:
            self._check_time(now, rule)
        if now > self._next_count:
            self._next_count = now + _PAUSE_SECONDS
            self._check_memory(rule)
            if self.watch is not None:
                self.watch(rule.head.predicate, self._relations[rule.head.predicate].size)

    def check_size(self, relation: Relation, rule: Rule) -> None:
        """After rows were put into a relation: are they too many?"""
        if relation.size > self.allowed.tuples:
            raise too_many_tuples(self.allowed.tuples, relation.name, rule.number)

    def _check_time(self, now: float, rule: Rule) -> None:
        changed = sum(relation.count_changes() for relation in self._derived)
        seconds = self.allowed.find_seconds(changed)
        if now > self._start + seconds:
            raise out_of_time(seconds, rule.head.predicate, rule.number)
        self._end = self._start + seconds

    def _check_memory(self, rule: Rule) -> None:
        held = sum(relation.count_bytes() for relation in self._relations.values()) + self._encoding.bytes
        if held > self.allowed.bytes:
            name = rule.head.predicate
            raise out_of_memory(self.allowed, self._relations[name].size, name, rule.number)
