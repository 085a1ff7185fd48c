"""A lock on a folder for as long as a process uses it: the system takes it back when the process ends, however it ends.

It is a record lock, which children of the process do not inherit: one that outlives its parent holds nothing.
"""

import fcntl
import os
import time
from pathlib import Path

from skerry.errors import RunError

__all__ = ["FolderLock"]

_LOCK = "lock"
_PATIENCE_SECONDS = 5.0
"""How long to wait for a process that was killed to be gone: the larger it is, the longer that takes."""

_held: set[Path] = set()
"""The folders that this process holds: within one process, record locks do not exclude each other."""


class FolderLock:
    """Held from when it is made until it is released. ``what`` the folder is goes into the message.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     lock = FolderLock(Path(folder), "checkpoint")
    ...     lock.release()
    """

    def __init__(self, folder: Path, what: str) -> None:
        self._folder, self._what = folder.resolve(), what
        if self._folder in _held:
            raise self._refuse(str(os.getpid()))
        try:
            self._descriptor = os.open(self._folder / _LOCK, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise RunError(f"cannot lock the {what} {str(folder)!r}: {error.strerror}") from None
        self._wait()
        _held.add(self._folder)
        os.truncate(self._descriptor, 0)
        os.pwrite(self._descriptor, f"{os.getpid()}\n".encode(), 0)

    def release(self) -> None:
        """Let others have the folder."""
        if self._folder in _held:
            _held.remove(self._folder)
            os.close(self._descriptor)

    def _wait(self) -> None:
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while not self._take():
            if time.monotonic() >= deadline:
                holder = os.pread(self._descriptor, 32, 0).decode(errors="replace").strip()
                os.close(self._descriptor)
                raise self._refuse(holder or "another")
            time.sleep(0.05)

    def _take(self) -> bool:
        try:
            fcntl.lockf(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True

    def _refuse(self, holder: str) -> RunError:
        return RunError(f"the {self._what} {str(self._folder)!r} is in use by process {holder}")
