"""Folders for what a process needs while it runs: for nobody else to read, and not left behind.

A process holds a lock on each of its folders, which the system takes back when it ends, however it ends. So the next
process that makes one can tell which are of nobody any more, and removes those.
"""

import fcntl
import os
import re
import shutil
import tempfile
from pathlib import Path

__all__ = ["make_private_folder", "remove_private_folder", "remove_private_folders"]

_PREFIX = "skerry-run-"
_NAME = re.compile(rf"{_PREFIX}\w+")

_held: dict[Path, int] = {}
"""This process's folders, and the descriptors that hold their locks."""


def make_private_folder() -> Path:
    """Make a folder in the temporary one that only this user can enter, and remove those of processes that are gone.

    >>> folder = make_private_folder()
    >>> oct(folder.stat().st_mode & 0o777)
    '0o700'
    >>> remove_private_folder(folder)
    >>> folder.exists()
    False
    """
    _sweep()
    made = Path(tempfile.mkdtemp(prefix="skerry-new-"))
    lock = _lock(made)
    # It gets the name that others look for once it is locked: nobody takes it for one that was left behind.
    folder = made.rename(made.with_name(made.name.replace("skerry-new-", _PREFIX)))
    _held[folder] = lock
    return folder


def remove_private_folder(folder: Path) -> None:
    """Remove a folder of this process with all that is in it."""
    shutil.rmtree(folder, ignore_errors=True)
    if folder in _held:
        os.close(_held.pop(folder))


def remove_private_folders() -> None:
    """Remove all of this process's."""
    for folder in list(_held):
        remove_private_folder(folder)


def _sweep() -> None:
    """Remove the folders of this user that no process holds."""
    for entry in os.scandir(tempfile.gettempdir()):
        if _NAME.fullmatch(entry.name) and _is_ours(entry):
            try:
                lock = _lock(Path(entry.path))
            except OSError:  # it is held, or somebody else is removing it
                continue
            shutil.rmtree(entry.path, ignore_errors=True)
            os.close(lock)


def _is_ours(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False) and entry.stat(follow_symlinks=False).st_uid == os.getuid()
    except OSError:
        return False


def _lock(folder: Path) -> int:
    """Lock a folder, or raise ``OSError`` if another process holds it; give the descriptor that has the lock."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor
