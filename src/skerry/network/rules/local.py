"""Local storage: tuples stay at home, and partial results travel.

A new tuple sets out from home for the tuples that it joins: to the mote that a bound term names, or, where none is
bound, to all motes that are near enough. A deletion makes the same journey, and withdraws. A journey begins when all
tuples that are older by their stamps are at home: after the greatest difference of two clocks.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, cast

from skerry.deduce.evaluate import Binding
from skerry.model.term import Term, Value, variables
from skerry.network.message import HEADER_BYTES, Kind, Message, count_bytes
from skerry.network.rules.claims import LAST, Claim
from skerry.network.rules.homes import find_home
from skerry.network.rules.node_program import NodeRule
from skerry.network.rules.partials import Cause, Partial, Stamp, begin, complete, extend, read_partial, stamp_of
from skerry.network.rules.store import Stored
from skerry.network.rules.technique import Equipment
from skerry.network.rules.walking import list_carried

__all__ = ["Local", "pack_partials"]

_Search = tuple[int, int]
"""Who asks all motes, and a number."""


class Local:
    """One mote's part: it extends partial results with its own tuples, and sends them on."""

    def __init__(self, equipment: Equipment) -> None:
        self._own = equipment
        self._rules = {rule.number: rule for rule in equipment.program.rules}
        self._heard: set[_Search] = set()
        self._searches = 0

    def insert(self, stored: Stored) -> None:
        """Set out from a new tuple. A link is known at both ends, and sets out from its own."""
        if stored.is_own:
            self._set_out(stored, is_insertion=True, stamp=stamp_of(stored.id))

    def drop(self, stored: Stored, has_expired: bool) -> None:
        """Set out to withdraw what was made with a tuple; what has expired is withdrawn everywhere without a word."""
        self._own.store.bury(stored)
        if not has_expired:
            stamp = (self._own.board.clock, self._own.board.mote, 0)
            self._set_out(stored, is_insertion=False, stamp=stamp)

    def receive(self, topic: str, content: tuple[Any, ...]) -> None:
        """Partial results for a mote, or for all that are near enough."""
        if topic == "visit":
            target, subgoal, plain = content
            if target == self._own.board.mote:
                self._visit(self._read(plain), subgoal, own=False)
            else:
                self._send_to(target, subgoal, plain)
            return
        search, hops, subgoal, plain = content
        if search not in self._heard:
            self._note_heard(search)
            self._spread(search, hops, subgoal, plain)
            self._visit(self._read(plain), subgoal, own=True)

    def _set_out(self, stored: Stored, is_insertion: bool, stamp: Stamp) -> None:
        """Begin as soon as everything that is older is at home."""
        begun = self._begin_all(stored, is_insertion, stamp)
        if begun:
            self._own.board.wake(self._own.program.timing.skew_us + 1, self._travel, begun)

    def _starts(self, stored: Stored) -> Iterator[tuple[NodeRule, int]]:
        """Where a tuple can be the youngest of a derivation: links are older than all else."""
        for plan in self._own.plans.get(stored.predicate, ()):
            assert plan.start is not None
            if stored.id[1] >= 0 or not self._carried(plan.rule):
                yield plan.rule, plan.start

    def _begin_all(self, stored: Stored, is_insertion: bool, stamp: Stamp) -> list[Partial]:
        begun = (
            begin(rule, Cause(stored.id, start, is_insertion, stamp), stored, self._own.join)
            for rule, start in self._starts(stored)
        )
        return [each for each in begun if each is not None]

    def _carried(self, rule: NodeRule) -> list[int]:
        return list_carried(rule, self._own.program.schemas)

    def _visit(self, partials: Iterable[Partial], subgoal: int, own: bool) -> None:
        """Take up partial results that came here for one subgoal."""
        self._travel([longer for partial in partials for longer in extend(partial, subgoal, self._own.join, own)])

    def _travel(self, partials: Sequence[Partial]) -> None:
        """Extend partial results here as far as can be, claim complete ones, and send the others where they lead."""
        bound: dict[tuple[int, int], list[Partial]] = {}
        wide: dict[tuple[int, int], list[Partial]] = {}
        waiting = list(partials)
        while waiting:
            partial = waiting.pop()
            if not partial.missing:
                self._claim(partial)
                continue
            target, subgoal = self._choose(partial)
            if target == self._own.board.mote:
                waiting += extend(partial, subgoal, self._own.join, own=False)
            elif target is not None:
                bound.setdefault((target, subgoal), []).append(partial)
            else:
                wide.setdefault((self._find_reach(partial, subgoal), subgoal), []).append(partial)
        for (target, subgoal), found in bound.items():
            self._send_to(target, subgoal, pack_partials(found))
        for (hops, subgoal), found in wide.items():
            self._search(hops, subgoal, found)

    def _claim(self, partial: Partial) -> None:
        for claim in self._make_claims(partial):
            self._own.claims.send(claim)

    def _make_claims(self, partial: Partial) -> Iterator[Claim]:
        for found in complete(partial, self._own.join):
            claim = self._own.claims.make(partial.rule, found)
            if claim is not None:
                is_insertion = partial.cause.is_insertion
                yield claim if is_insertion else replace(claim, version=LAST, in_force=False)

    def _choose(self, partial: Partial) -> tuple[int | None, int]:
        """The subgoal to find next, and the mote that knows: the nearest, or None if any mote may."""
        here, hops = self._own.board.mote, self._own.routes.hops
        known = [(mote, subgoal) for subgoal in partial.missing for mote in self._locate(partial, subgoal)]
        if not known:
            reaches = [(self._find_reach(partial, subgoal), subgoal) for subgoal in partial.missing]
            return None, min(reaches)[1]
        return min(known, key=lambda each: (each[0] != here, hops[each[0]], each[1]))

    def _locate(self, partial: Partial, subgoal: int) -> Iterator[int]:
        """The motes that know all tuples of a subgoal, as far as terms are bound."""
        atom = partial.rule.positives[subgoal]
        schema, terms = self._own.program.schemas[atom.predicate], cast(tuple[Term, ...], atom.arguments)
        if schema.known is not None:
            yield self._own.board.mote
        columns = (0, 1) if schema.link is not None else schema.keys if schema.host is None else (schema.host,)
        values = {column: self._evaluate(terms[column], partial.binding) for column in columns}
        if schema.link is None and None not in values.values():
            row = tuple(cast(Value, values.get(column, 0)) for column in range(len(terms)))
            yield find_home(schema, row, self._own.program.motes)
        elif schema.link is not None:
            yield from (mote for mote in values.values() if type(mote) is int and 0 <= mote < self._own.program.motes)

    def _evaluate(self, term: Term, binding: Binding) -> Value | None:
        if any(variable.name not in binding for variable in variables(term)):
            return None
        return self._own.join.solver.evaluator.value(term, binding)

    def _find_reach(self, partial: Partial, subgoal: int) -> int:
        """How far from here the tuples of a subgoal can live: what is known of those that were found."""
        near = self._own.program.nearness[partial.rule.number]
        reaches = [self._own.program.motes]
        for other, identity in enumerate(partial.ids):
            hops = near[other][subgoal]
            if identity is not None and identity[0] >= 0 and hops is not None:
                reaches.append(self._own.routes.hops[identity[0]] + hops)
        return min(reaches)

    def _search(self, hops: int, subgoal: int, partials: Sequence[Partial]) -> None:
        """Ask all motes within some hops, this one too."""
        self._searches += 1
        search = (self._own.board.mote, self._searches)
        self._note_heard(search)
        self._spread(search, hops, subgoal, pack_partials(partials))
        self._visit(partials, subgoal, own=True)

    def _note_heard(self, search: _Search) -> None:
        self._heard.add(search)
        self._own.memory.forget_later(self._heard.discard, search)

    def _spread(self, search: _Search, hops: int, subgoal: int, plain: tuple[Any, ...]) -> None:
        if self._own.routes.hops[search[0]] < hops:
            body = ("search", search, hops, subgoal, plain)
            self._own.board.broadcast(Message(Kind.JOIN, body, HEADER_BYTES + count_bytes(body)))

    def _send_to(self, target: int, subgoal: int, plain: tuple[Any, ...]) -> None:
        hop = self._own.routes.next_hop(target)
        if hop is not None:
            body = ("visit", target, subgoal, plain)
            self._own.board.send(hop, Message(Kind.JOIN, body, HEADER_BYTES + count_bytes(body)))

    def _read(self, plain: tuple[Any, ...]) -> list[Partial]:
        return [read_partial(self._rules[number], cause, rest) for number, cause, rest in plain]


def pack_partials(partials: Iterable[Partial]) -> tuple[Any, ...]:
    """Partial results as plain data, for a message."""
    return tuple((each.rule.number, each.cause.to_plain(), each.to_plain()) for each in partials)
