"""A store of spilled tuples that writes nothing to disk."""

from skerry.operators.joins.spill_store import SpillStore

__all__ = ["MemorySpill"]


class MemorySpill(SpillStore):
    """Blobs kept in memory.

    >>> spill = MemorySpill()
    >>> spill.put("a", b"123")
    >>> spill.get("a"), spill.bytes_written
    (b'123', 3)
    """

    def __init__(self) -> None:
        self.blobs: dict[str, bytes] = {}

    def put(self, name: str, blob: bytes) -> None:
        """Keep a blob."""
        self.blobs[name] = blob
        self.bytes_written += len(blob)

    def get(self, name: str) -> bytes:
        """The blob of a name."""
        return self.blobs[name]

    def drop(self, name: str) -> None:
        """Let go of a blob."""
        del self.blobs[name]
