"""A file written whole or not at all: beside its path first, then moved there; and on the disk, if that is asked for.

A system that loses power forgets what it has not been told to write out: the contents of a file, and the names in a
folder, each for itself. ``sync`` asks for both. Many are asked for at once, since a disk answers those together.
"""

import errno
import os
from collections.abc import Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa

__all__ = ["replace_atomically", "sync", "write_atomically"]

_AT_ONCE = 16
_OF_THE_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS)


def write_atomically(path: Path, content: bytes | pa.Buffer, *, synced: bool = False) -> None:
    """Put ``content`` where readers find all of it, or what was there before; ``synced``, even after a loss of power.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     write_atomically(Path(folder) / "run.json", b"{}")
    ...     [path.name for path in Path(folder).iterdir()]
    ['run.json']
    """
    with replace_atomically(path) as beside:
        beside.write_bytes(content)
        if synced:
            _sync(beside)
    if synced:
        _sync(path.parent)


@contextmanager
def replace_atomically(path: Path) -> Iterator[Path]:
    """Give a hidden path beside ``path`` to write to, under a name no other process uses, and move it there at the end.

    If writing fails, nothing is left beside the path. If that is for the disk, the error names the path.
    """
    beside = path.with_name(f".{path.name.lstrip('.')}.{os.getpid()}")
    try:
        yield beside
    except BaseException as error:
        beside.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno in _OF_THE_DISK:
            raise OSError(error.errno, os.strerror(error.errno), str(path)) from error  # PyArrow's has no path
        raise
    os.replace(beside, path)


def sync(paths: Collection[Path]) -> None:
    """Return when these files are on the disk, and then their names."""
    _sync_all(paths)
    _sync_all({path.parent for path in paths})


def _sync_all(paths: Collection[Path]) -> None:
    if len(paths) < 2:
        for path in paths:
            _sync(path)
        return
    with ThreadPoolExecutor(min(len(paths), _AT_ONCE)) as pool:
        list(pool.map(_sync, paths))


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
