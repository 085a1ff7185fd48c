"""Perpendicular joins: a tuple is stored along its row and joined along its column; other fields: see ``crossings``.

The walk goes to one end of the column first and then to the other. At each mote the partial results that came meet the
tuples that are stored there; old and new ones go on, and what is left at the end is dropped. All subgoals may be met in
any order, also those that share no variable, so one pass is enough. Links are asked at one of their ends afterwards; on
a grid every mote can tell from the numbers of two others how far they are apart.

A walk begins when all tuples that are older by their stamps are stored: after the longest storage and the greatest
difference of two clocks. Gupta, Zhu: Deductive Approach for Programming Sensor Networks, section 3.1.
"""

from collections.abc import Iterable, Sequence
from typing import Any, cast

from skerry.model.term import Term
from skerry.network.message import HEADER_BYTES, Kind, Message, count_bytes
from skerry.network.rules.crossings import Crossings
from skerry.network.rules.local import Local, pack_partials
from skerry.network.rules.node_program import TupleId
from skerry.network.rules.packing import pack, unpack
from skerry.network.rules.partials import Partial, Stamp, extend
from skerry.network.rules.store import Stored
from skerry.network.rules.technique import Equipment

__all__ = ["Perpendicular"]


class Perpendicular(Local):
    """One mote's part: it stores what its level is given, and extends what walks by."""

    def __init__(self, equipment: Equipment, crossings: Crossings) -> None:
        super().__init__(equipment)
        self._crossings = crossings
        self._relayed: set[tuple[str, TupleId]] = set()
        self._walked: set[tuple[Any, ...]] = set()

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
        """Store along the row first, where a rule joins several tuples; others are joined from home at once."""
        begun = self._begin_all(stored, is_insertion, stamp)
        alone = [each for each in begun if len(self._carried(each.rule)) < 2]
        several = [each for each in begun if len(self._carried(each.rule)) > 1]
        timing = self._own.program.timing
        if alone:
            self._own.board.wake(timing.skew_us + 1, self._travel, alone)
        if any(len(self._carried(rule)) > 1 for rule, _ in self._starts(stored)):
            if is_insertion:
                self._relay("store", (stored.id, stored.predicate, pack(stored.row), stored.expiry_us))
            else:
                self._relay("drop", (stored.id,))
        if several:
            self._own.board.wake(timing.storage_us + timing.skew_us + 1, self._go, several)

    def _relay(self, topic: str, content: tuple[Any, ...]) -> None:
        identity = content[0]
        if (topic, identity) not in self._relayed:
            self._relayed.add((topic, identity))
            if identity[0] in self._crossings.relays:
                self._own.board.broadcast(_message(Kind.STORAGE, (topic, *content)))

    def _keep(self, identity: TupleId, predicate: str, row: tuple[Any, ...], expiry_us: int | None) -> None:
        if identity[0] not in self._crossings.keeps or self._own.store.has_seen(identity):
            if self._own.store.has_dropped(identity):
                self._own.store.bury(Stored(identity, predicate, unpack(row), expiry_us, is_own=False))
            return
        clock, timing = self._own.board.clock, self._own.program.timing
        self._own.store.note_delay(clock - identity[1] - timing.skew_us - timing.storage_us)
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
        """Send partial results to the beginning of this mote's walk."""
        self._walk(self._own.board.mote, 0, self._crossings.walk[0], pack_partials(partials))

    def _walk(self, source: int, index: int, target: int, plain: tuple[Any, ...]) -> None:
        """Partial results have come to a mote on their way, or to their next on the walk."""
        if target != self._own.board.mote:
            hop = self._own.routes.next_hop(target)
            if hop is not None:
                self._own.board.send(hop, _message(Kind.JOIN, ("walk", source, index, target, plain)))
            return
        going = self._meet(self._read(plain))
        following = self._crossings.ahead.get((source, index))
        if going and following is not None:
            self._walk(source, index + 1, following, pack_partials(going))

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
