"""Broadcast: new tuples are flooded as far as they can matter, and each rule is joined at its site.

Whichever tuple of a derivation reaches the site last completes it, so nothing depends on timing.
"""

from dataclasses import replace
from typing import Any

from skerry.network.message import HEADER_BYTES, Kind, Message, count_bytes
from skerry.network.rules.claims import LAST, Claim
from skerry.network.rules.node_program import DerivationKey, TupleId
from skerry.network.rules.packing import pack, unpack
from skerry.network.rules.store import Stored
from skerry.network.rules.technique import Equipment

__all__ = ["Broadcast"]


class Broadcast:
    """One mote's part: its replicas, and the claims that it has made from them."""

    def __init__(self, equipment: Equipment) -> None:
        self._own = equipment
        self._claims: dict[DerivationKey, Claim] = {}
        self._by_tuple: dict[TupleId, set[DerivationKey]] = {}
        self._relayed: set[tuple[str, TupleId]] = set()

    def insert(self, stored: Stored) -> None:
        """Join a tuple, and flood it."""
        self._join(stored)
        if stored.is_own and self._floods(stored.predicate, stored.id[0]):
            self._speak("store", stored.id, stored.predicate, pack(stored.row), stored.expiry_us)

    def drop(self, stored: Stored, has_expired: bool) -> None:
        """Withdraw what was made with a tuple, and flood its deletion."""
        self._withdraw(stored.id, has_expired)
        if not has_expired and self._floods(stored.predicate, stored.id[0]):
            self._speak("drop", stored.id, stored.predicate)

    def receive(self, topic: str, content: tuple[Any, ...]) -> None:
        """A replica comes, or goes."""
        identity, predicate, *rest = content
        if (topic, identity) in self._relayed:
            return
        self._note_relayed(topic, identity)
        if self._floods(predicate, identity[0]):
            self._speak(topic, *content)
        if topic == "store":
            row, expiry_us = rest
            self._keep(Stored(identity, predicate, unpack(row), expiry_us, is_own=False))
        else:
            self._own.store.drop(identity)
            self._withdraw(identity, has_expired=False)

    def _keep(self, stored: Stored) -> None:
        board = self._own.board
        if stored.expiry_us is not None:
            if stored.expiry_us <= board.clock:
                return
            board.wake(stored.expiry_us - board.clock, self._expire, stored.id)
        if self._own.store.add(stored):
            timing = self._own.program.timing
            self._own.store.note_storage(board.clock - stored.id[1], timing.storage_us + timing.skew_us)
            self._join(stored)

    def _expire(self, identity: TupleId) -> None:
        self._own.store.drop(identity)
        self._withdraw(identity, has_expired=True)

    def _floods(self, predicate: str, source: int) -> bool:
        """Whether this mote has to send a tuple on for the farthest to hear it."""
        return self._own.routes.hops[source] < self._own.program.ranges.get(predicate, 0)

    def _speak(self, *body: Any) -> None:
        self._note_relayed(body[0], body[1])
        self._own.board.broadcast(Message(Kind.STORAGE, body, HEADER_BYTES + count_bytes(body)))

    def _note_relayed(self, topic: str, identity: TupleId) -> None:
        if (topic, identity) not in self._relayed:
            self._relayed.add((topic, identity))
            self._own.memory.forget_later(self._relayed.discard, (topic, identity))

    def _join(self, stored: Stored) -> None:
        """Claim what a tuple completes. All is noted before anything is sent: a claim may come back as a deletion."""
        made: dict[DerivationKey, Claim] = {}
        for plan in self._own.plans.get(stored.predicate, ()):
            for found in self._own.join.find(plan, stored):
                key = (plan.rule.number, found.ids)
                if key not in self._claims and key not in made:
                    claim = self._own.claims.make(plan.rule, found)
                    if claim is not None:
                        made[key] = claim
        for claim in made.values():
            self._note(claim)
        for claim in made.values():
            self._own.claims.send(claim)

    def _note(self, claim: Claim) -> None:
        self._claims[claim.key] = claim
        for identity in claim.key[1]:
            self._by_tuple.setdefault(identity, set()).add(claim.key)

    def _withdraw(self, identity: TupleId, has_expired: bool) -> None:
        """Take back what needs a tuple; where that has expired, so have the claims."""
        withdrawn = [self._claims.pop(key) for key in sorted(self._by_tuple.pop(identity, ()))]
        for claim in withdrawn:
            for other in claim.key[1]:
                kept = self._by_tuple.get(other)
                if kept is not None:
                    kept.discard(claim.key)
                    if not kept:
                        del self._by_tuple[other]
        for claim in () if has_expired else withdrawn:
            self._own.claims.send(replace(claim, version=LAST, in_force=False))
