"""Perpendicular joins: a tuple is stored along its row and joined along its column. Others than grids: ``crossings``.

The walk goes to one end of the column first and then to the other. At each mote the partial results that came meet the
tuples that are stored there; old and new ones go on, and what is left at the end is dropped. All subgoals may be met in
any order, also those that share no variable, so one pass is enough. Links are asked at one of their ends afterwards; on
a grid every mote can tell from the numbers of two others how far they are apart.

Claims walk as well, where a rule denies tuples of many other motes. Each leaves where those tuples are stored, and is
not sent on while one of them blocks it.

A walk begins when all tuples that are older by their stamps are stored: after the longest storage and the greatest
difference of two clocks. Gupta, Zhu: Deductive Approach for Programming Sensor Networks, section 3.1.
"""

from collections.abc import Iterable, Sequence
from typing import Any, cast

from skerry.model.term import Term
from skerry.network.message import HEADER_BYTES, Kind, Message, count_bytes
from skerry.network.rules.claims import Claim, read_claim
from skerry.network.rules.crossings import Crossings
from skerry.network.rules.local import Local, pack_partials
from skerry.network.rules.node_program import TupleId
from skerry.network.rules.pack_alike import pack_alike, unpack_alike
from skerry.network.rules.packing import pack, unpack
from skerry.network.rules.partials import Partial, Stamp, extend
from skerry.network.rules.store import Stored
from skerry.network.rules.technique import Equipment
from skerry.network.rules.walking import list_stored

__all__ = ["Perpendicular"]


class Perpendicular(Local):
    """One mote's part: it stores what its level is given, and extends what walks by."""

    def __init__(self, equipment: Equipment, crossings: Crossings) -> None:
        super().__init__(equipment)
        self._crossings = crossings
        self._relayed: set[tuple[str, TupleId]] = set()
        self._stored = list_stored(equipment.program)

    def receive(self, topic: str, content: tuple[Any, ...]) -> None:
        """A replica, a deletion, partial results on a walk, or what local joins say."""
        if topic == "store":
            self._relay(topic, content)
            self._keep(*content)
        elif topic == "drop":
            self._relay(topic, content)
            self._remove(*content)
        elif topic == "walk":
            self._walk(*content)
        else:
            super().receive(topic, content)

    def _set_out(self, stored: Stored, is_insertion: bool, stamp: Stamp) -> None:
        """Store along the row first, where walks ask for a tuple. Rules that do not walk are joined from home."""
        begun = self._begin_all(stored, is_insertion, stamp)
        alone = [each for each in begun if each.rule.number not in self._own.program.walking]
        walking = [each for each in begun if each.rule.number in self._own.program.walking]
        timing = self._own.program.timing
        if alone:
            self._own.board.wake(timing.skew_us + 1, self._travel, alone)
        if stored.predicate in self._stored:
            if is_insertion:
                self._relay("store", (stored.id, stored.predicate, pack(stored.row), stored.expiry_us))
            else:
                self._relay("drop", (stored.id,))
        if walking:
            self._own.board.wake(timing.storage_us + timing.skew_us + 1, self._go, walking)

    def _relay(self, topic: str, content: tuple[Any, ...]) -> None:
        identity = content[0]
        if (topic, identity) not in self._relayed:
            self._relayed.add((topic, identity))
            self._own.memory.forget_later(self._relayed.discard, (topic, identity))
            if identity[0] in self._crossings.relays:
                self._own.board.broadcast(_message(Kind.STORAGE, (topic, *content)))

    def _keep(self, identity: TupleId, predicate: str, row: tuple[Any, ...], expiry_us: int | None) -> None:
        if identity[0] not in self._crossings.keeps or self._own.store.has_seen(identity):
            if self._own.store.has_dropped(identity):
                self._own.store.bury(Stored(identity, predicate, unpack(row), expiry_us, is_own=False))
            return
        clock, timing = self._own.board.clock, self._own.program.timing
        self._own.store.note_storage(clock - identity[1], timing.storage_us + timing.skew_us)
        if expiry_us is None or expiry_us > clock:
            self._own.store.add(Stored(identity, predicate, unpack(row), expiry_us, is_own=False))
            if expiry_us is not None:
                self._own.board.wake(expiry_us - clock, self._remove, identity)

    def _remove(self, identity: TupleId) -> None:
        if identity[0] in self._crossings.keeps:
            stored = self._own.store.drop(identity)
            if stored is not None:
                self._own.store.bury(stored)

    def _go(self, partials: Sequence[Partial]) -> None:
        """Send partial results, and claims that deny tuples elsewhere, to the beginning of this mote's walk."""
        several = [each for each in partials if self._find_missing(each)]
        claims = self._claim_from_home([each for each in partials if not self._find_missing(each)])
        if several or claims:
            plain = pack_alike([claim.to_plain() for claim in claims])
            self._walk(self._own.board.mote, 0, self._crossings.walk[0], pack_partials(several), plain)

    def _claim_from_home(self, partials: Sequence[Partial]) -> list[Claim]:
        """The claims that can be made here, and have to stop elsewhere. All else goes its own way."""
        claims, waiting = list[Claim](), list(partials)
        while waiting:
            partial = waiting.pop()
            if partial.missing:
                target, subgoal = self._choose(partial)
                if target == self._own.board.mote:
                    waiting += extend(partial, subgoal, self._own.join, own=False)
                else:
                    self._travel([partial])
                continue
            for claim in self._make_claims(partial):
                if len(claim.stops) > 1 and claim.stops[0].home != self._own.board.mote:
                    claims.append(claim)
                else:
                    self._own.claims.send(claim)
        return claims

    def _walk(self, source: int, index: int, target: int, plain: tuple[Any, ...], claims: tuple[Any, ...]) -> None:
        """Partial results and claims have come to a mote on their way, or to their next on the walk."""
        if target != self._own.board.mote:
            hop = self._own.routes.next_hop(target)
            if hop is not None:
                self._own.board.send(hop, _message(Kind.JOIN, ("walk", source, index, target, plain, claims)))
            return
        going, following = self._meet(self._read(plain)), self._crossings.ahead.get((source, index))
        left = self._let_claims_leave(map(read_claim, unpack_alike(claims)), is_last=following is None)
        if (going or left) and following is not None:
            plain_left = pack_alike([claim.to_plain() for claim in left])
            self._walk(source, index + 1, following, pack_partials(going), plain_left)

    def _let_claims_leave(self, claims: Iterable[Claim], is_last: bool) -> list[Claim]:
        """Send the claims whose denied tuples are stored here, if any are; the others."""
        left = []
        for claim in claims:
            if is_last or claim.stops[0].home in self._crossings.keeps:
                self._own.claims.send(claim, comes_back=True)
            else:
                left.append(claim)
        return left

    def _meet(self, partials: Iterable[Partial]) -> list[Partial]:
        """Extend partial results with what is stored here; those that have all tuples leave the walk."""
        going = {(*each.ids, each.rule.number, each.cause.start): each for each in partials}
        waiting, whole = list(going.values()), list[Partial]()
        while waiting:
            partial = waiting.pop()
            for subgoal in self._find_missing(partial):
                for longer in extend(partial, subgoal, self._own.join, own=False):
                    key = (*longer.ids, longer.rule.number, longer.cause.start)
                    if key not in going:
                        going[key] = longer
                        waiting.append(longer)
        whole = [each for each in going.values() if not self._find_missing(each)]
        self._travel([longer for each in whole for longer in self._check_links(each)])
        return [each for each in going.values() if self._find_missing(each)]

    def _find_missing(self, partial: Partial) -> list[int]:
        return [subgoal for subgoal in self._carried(partial.rule) if partial.ids[subgoal] is None]

    def _check_links(self, partial: Partial) -> list[Partial]:
        """On a grid, find links whose ends are both bound by the numbers of the motes."""
        columns = self._own.program.grid_columns
        if columns is None:
            return [partial]
        for subgoal in partial.missing:
            atom = partial.rule.positives[subgoal]
            schema = self._own.program.schemas[atom.predicate]
            ends = [self._evaluate(term, partial.binding) for term in cast(tuple[Term, ...], atom.arguments)]
            if schema.link is None or not all(type(end) is int for end in ends):
                continue
            one, other = cast(list[int], ends)
            if not 0 < _count_hops(one, other, columns) <= schema.link:
                return []
            number = list(self._own.program.schemas).index(atom.predicate)
            link = Stored((one, -1 - number, other), atom.predicate, (one, other), None, is_own=False)
            partial = partial.add(subgoal, link, partial.binding)
        return [partial]


def _count_hops(one: int, other: int, columns: int) -> int:
    return abs(one // columns - other // columns) + abs(one % columns - other % columns)


def _message(kind: Kind, body: tuple[Any, ...]) -> Message:
    return Message(kind, body, HEADER_BYTES + count_bytes(body))
