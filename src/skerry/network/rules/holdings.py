"""The tuples that live on a mote, with the derivations that are in force: a tuple holds while it has one."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from skerry.deduce.values import Row, row_key
from skerry.network.rules.node_program import DerivationKey, TupleId

__all__ = ["GIVEN", "Holding", "Holdings"]

GIVEN: DerivationKey = (0, ())
"""What a base fact has for a derivation."""


@dataclass
class Holding:
    """A tuple at its home. ``id`` is None while it does not hold; each time it comes to hold it has a new one."""

    predicate: str
    row: Row
    derivations: set[DerivationKey] = field(default_factory=set)
    id: TupleId | None = None
    expiry_us: int | None = None
    """Of a base fact."""
    is_due: bool = False
    """Whether it waits to be settled."""


class Holdings:
    """Tuples by predicate and row.

    >>> holdings = Holdings()
    >>> holdings.get("p", (1,)).derivations.add(GIVEN)
    >>> holdings.get("p", (1,)).derivations == {GIVEN}, holdings.holds("p", (1,)), holdings.holds("p", (True,))
    (True, False, False)
    """

    def __init__(self) -> None:
        self._holdings: dict[tuple[str, object], Holding] = {}

    def get(self, predicate: str, row: Row) -> Holding:
        """The tuple, whether it holds or not."""
        found = (predicate, row_key(row))
        if found not in self._holdings:
            self._holdings[found] = Holding(predicate, row)
        return self._holdings[found]

    def holds(self, predicate: str, row: Row) -> bool:
        """Whether a tuple holds, as far as is settled."""
        found = self._holdings.get((predicate, row_key(row)))
        return found is not None and found.id is not None

    def forget(self, holding: Holding) -> None:
        """Let go of a tuple that has no derivation."""
        self._holdings.pop((holding.predicate, row_key(holding.row)), None)

    def __iter__(self) -> Iterator[Holding]:
        """Those that hold."""
        return (each for each in self._holdings.values() if each.id is not None)
