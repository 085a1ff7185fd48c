"""Where tuples go that do not fit into memory."""

import shutil
import weakref
from abc import ABC, abstractmethod
from pathlib import Path

from skerry.errors import LimitError, RunError

__all__ = ["FolderSpill", "SpillStore"]


class SpillStore(ABC):
    """Blobs by name, written once and read any number of times. They need not outlive the process."""

    bytes_written: int = 0
    """By all ``put`` so far."""

    @abstractmethod
    def put(self, name: str, blob: bytes) -> None:
        """Keep a blob. Raises ``LimitError`` if there is no room for it."""

    @abstractmethod
    def get(self, name: str) -> bytes:
        """The blob of a name."""

    @abstractmethod
    def drop(self, name: str) -> None:
        """Let go of a blob."""


class FolderSpill(SpillStore):
    """One file per blob, in a folder that is this store's alone: no other may be made with the same ``folder``.

    The folder is made when the first blob comes, and is gone when the last is dropped, when the store
    is no longer used, or when the process ends in an orderly way.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp()) / "join"
    >>> spill = FolderSpill(folder)
    >>> spill.put("a", b"123")
    >>> spill.get("a"), folder.exists()
    (b'123', True)
    >>> spill.drop("a")
    >>> folder.exists()
    False
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._names: set[str] = set()
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)

    def put(self, name: str, blob: bytes) -> None:
        """Write a file."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._names.add(name)
            (self._folder / name).write_bytes(blob)
        except OSError as error:
            raise LimitError(f"cannot spill to {self._folder}:", error.strerror or error) from error
        self.bytes_written += len(blob)

    def get(self, name: str) -> bytes:
        """Read a file."""
        try:
            return (self._folder / name).read_bytes()
        except OSError as error:
            message = f"what was spilled to {self._folder / name} cannot be read again:"
            raise RunError(message, error.strerror or error) from error

    def drop(self, name: str) -> None:
        """Delete a file, and with the last the folder. What somebody else has deleted is gone all the same."""
        (self._folder / name).unlink(missing_ok=True)
        self._names.discard(name)
        if not self._names:
            shutil.rmtree(self._folder, ignore_errors=True)
