"""Claims that wait at the home of a negated atom: passed on while the atom does not hold."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from skerry.deduce.values import Row, row_key
from skerry.network.rules.claims import Claim
from skerry.network.rules.node_program import DerivationKey

__all__ = ["Watch", "Watches"]


@dataclass
class Watch:
    """The last that was heard of a claim, and the last that was passed on."""

    claim: Claim
    sent: int = 0
    is_passed: bool = False

    def update(self, holds: bool) -> Claim | None:
        """What to pass on, if that has changed."""
        passes = self.claim.in_force and not holds
        if passes == self.is_passed:
            return None
        self.is_passed, self.sent = passes, self.sent + 1
        return replace(self.claim, stops=self.claim.stops[1:], version=self.sent, in_force=passes)


class Watches:
    """Watches by derivation, and by the atom that each waits for."""

    def __init__(self) -> None:
        self._watches: dict[tuple[DerivationKey, int], Watch] = {}
        self._by_atom: dict[tuple[str, object], dict[tuple[DerivationKey, int], Watch]] = {}

    def hear(self, claim: Claim) -> Watch | None:
        """Take a claim in; None if a newer one was heard before. A derivation may stop here several times."""
        key = (claim.key, len(claim.stops))
        watch = self._watches.get(key)
        if watch is None:
            watch = self._watches[key] = Watch(claim)
            name, row = claim.stops[0]
            self._by_atom.setdefault((name, row_key(row)), {})[key] = watch
        elif watch.claim.version >= claim.version:
            return None
        watch.claim = claim
        return watch

    def of(self, predicate: str, row: Row) -> Iterator[Watch]:
        """Those that wait for an atom."""
        return iter(list(self._by_atom.get((predicate, row_key(row)), {}).values()))

    def end(self, claim: Claim) -> None:
        """Let go of a claim that has expired, without a word."""
        watch = self._watches.get((claim.key, len(claim.stops)))
        if watch is not None:
            watch.claim, watch.is_passed = replace(watch.claim, in_force=False), False
