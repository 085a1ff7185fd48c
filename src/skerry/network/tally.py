"""What a network has sent and heard: transmissions and bytes, by mote and by kind."""

from collections import Counter

from skerry.network.message import Kind

__all__ = ["Tally"]


class Tally:
    """Counts transmissions, and what motes heard of them.

    >>> tally = Tally(2)
    >>> tally.count(1, Kind.JOIN, 20)
    >>> tally.by_kind[Kind.JOIN], tally.by_mote, tally.bytes_by_mote, tally.total
    (1, [0, 1], [0, 20], 1)
    """

    def __init__(self, motes: int) -> None:
        self.by_kind: Counter[Kind] = Counter()
        self.bytes_by_kind: Counter[Kind] = Counter()
        self.by_mote = [0] * motes
        self.bytes_by_mote = [0] * motes
        self.heard_by_mote = [0] * motes
        """Messages that a mote received."""
        self.bytes_heard_by_mote = [0] * motes

    def count(self, sender: int, kind: Kind, size: int) -> None:
        """One more transmission."""
        self.by_kind[kind] += 1
        self.bytes_by_kind[kind] += size
        self.by_mote[sender] += 1
        self.bytes_by_mote[sender] += size

    @property
    def total(self) -> int:
        """All transmissions."""
        return sum(self.by_mote)

    @property
    def total_bytes(self) -> int:
        """What they took."""
        return sum(self.bytes_by_mote)
