"""Claims that wait at the home of what they deny: passed on while that does not hold."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from skerry.deduce.values import Row, row_key
from skerry.network.rules.claims import Claim
from skerry.network.rules.node_program import DerivationKey

__all__ = ["Watch", "Watches"]

_Key = tuple[DerivationKey, int]


@dataclass
class Watch:
    """The last that was heard of a claim, and the last that was passed on."""

    claim: Claim
    sent: int = 0
    is_passed: bool = False

    def update(self, is_denied: bool) -> Claim | None:
        """What to pass on, if that has changed."""
        passes = self.claim.in_force and not is_denied
        if passes == self.is_passed:
            return None
        self.is_passed, self.sent = passes, self.sent + 1
        return replace(self.claim, stops=self.claim.stops[1:], version=self.sent, in_force=passes)


class Watches:
    """Watches by derivation, and by the tuple that each waits for; those of open denials by its predicate alone."""

    def __init__(self) -> None:
        self._watches: dict[_Key, Watch] = {}
        self._by_atom: dict[tuple[str, object], dict[_Key, Watch]] = {}

    def hear(self, claim: Claim) -> Watch | None:
        """Take a claim in; None if a newer one was heard before. A derivation may stop here several times."""
        key = (claim.key, len(claim.stops))
        watch = self._watches.get(key)
        if watch is None:
            watch = self._watches[key] = Watch(claim)
            self._by_atom.setdefault(_find_atom(claim), {})[key] = watch
        elif watch.claim.version >= claim.version:
            return None
        watch.claim = claim
        return watch

    def of(self, predicate: str, row: Row) -> Iterator[Watch]:
        """Those that may wait for a tuple."""
        for atom in ((predicate, row_key(row)), (predicate, None)):
            yield from list(self._by_atom.get(atom, {}).values())

    def forget(self, claim: Claim) -> None:
        """Forget a claim that is not in force, unless something newer was heard."""
        key = (claim.key, len(claim.stops))
        watch = self._watches.get(key)
        if watch is not None and not watch.claim.in_force:
            del self._watches[key]
            atom = _find_atom(claim)
            self._by_atom[atom].pop(key)
            if not self._by_atom[atom]:
                del self._by_atom[atom]

    def end(self, claim: Claim) -> None:
        """Let go of a claim that has expired, without a word."""
        watch = self._watches.get((claim.key, len(claim.stops)))
        if watch is not None:
            watch.claim, watch.is_passed = replace(watch.claim, in_force=False), False


def _find_atom(claim: Claim) -> tuple[str, object]:
    stop = claim.stops[0]
    return stop.predicate, row_key(stop.row) if stop.denial is None else None
