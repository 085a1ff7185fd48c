"""Claims that are not sent: where they were joined, a tuple is known that they deny. When it goes, they are sent.

The home of the denied tuple would stop such a claim anyway. A claim that was sent stays sent, whatever comes later:
from then on its stops decide.
"""

from dataclasses import dataclass

from skerry.network.rules.claims import Claim
from skerry.network.rules.memory import Memory
from skerry.network.rules.node_program import DerivationKey, TupleId

__all__ = ["BlockedClaims"]


@dataclass
class _Entry:
    """A claim that this mote has joined: what blocks it, or None, and whether it was withdrawn."""

    claim: Claim
    blocker: TupleId | None
    was_sent: bool = False
    has_ended: bool = False


class BlockedClaims:
    """One mote's claims with denials, by derivation, and by the tuples that block them or that they are made of."""

    def __init__(self, memory: Memory) -> None:
        self._entries: dict[DerivationKey, _Entry] = {}
        self._by_tuple: dict[TupleId, set[DerivationKey]] = {}
        self._memory = memory

    def take(self, claim: Claim, blocker: TupleId | None) -> bool:
        """A claim was joined here, or withdrawn; whether to send it."""
        entry = self._entries.get(claim.key)
        if entry is not None and (claim.in_force or not entry.claim.in_force):
            return False  # it came twice, or too late
        if not claim.in_force:
            ended = self._entries[claim.key] = _Entry(claim, None, was_sent=True, has_ended=True)
            self._memory.forget_later(self._forget, ended)
            return entry is None or entry.was_sent
        self._entries[claim.key] = _Entry(claim, blocker, was_sent=blocker is None)
        for identity in (*claim.key[1], *(() if blocker is None else (blocker,))):
            self._by_tuple.setdefault(identity, set()).add(claim.key)
        return blocker is None

    def note_sent(self, claim: Claim) -> bool:
        """A claim is to be sent that this mote cannot keep; whether it should be.

        It may be joined here again when more is known of what it denies: its withdrawal must follow it all the same.
        """
        entry = self._entries.get(claim.key)
        if entry is not None and (entry.was_sent or entry.has_ended):
            return False
        noted = self._entries[claim.key] = _Entry(claim, None, was_sent=True)
        self._memory.forget_later(self._forget, noted)
        return True

    def release(self, identity: TupleId) -> list[Claim]:
        """The claims that a tuple blocked which is gone. Those that were made of it have ended."""
        released = []
        for key in sorted(self._by_tuple.pop(identity, ())):
            entry = self._entries.get(key)
            if entry is None:
                continue
            if identity in key[1]:
                self.end(key)
            if entry.blocker == identity and not entry.has_ended:
                released.append(entry.claim)
        return released

    def end(self, key: DerivationKey) -> None:
        """A claim has expired."""
        entry = self._entries.get(key)
        if entry is not None and not entry.has_ended:
            entry.has_ended = True
            self._memory.forget_later(self._forget, entry)

    def _forget(self, entry: _Entry) -> None:
        key = entry.claim.key
        if self._entries.get(key) is not entry:
            return  # it was withdrawn since
        del self._entries[key]
        for identity in (*key[1], entry.blocker):
            if identity in self._by_tuple:
                self._by_tuple[identity].discard(key)
                if not self._by_tuple[identity]:
                    del self._by_tuple[identity]

    def block(self, claim: Claim, blocker: TupleId | None) -> None:
        """A claim that was released is blocked by another tuple, or is sent."""
        entry = self._entries[claim.key]
        entry.blocker, entry.was_sent = blocker, blocker is None
        if blocker is not None:
            self._by_tuple.setdefault(blocker, set()).add(claim.key)
