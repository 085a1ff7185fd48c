"""Two folders that change places in one step: whoever lists either sees all of one, or all of the other.

The system offers this under names that Python does not know: ``renameat2`` on Linux, ``renamex_np`` on macOS.
"""

import ctypes
import os
import sys
from pathlib import Path

__all__ = ["exchange"]

_HERE = -100
"""Paths are as they are for any other call: relative ones start at the working folder."""
_SWAP = 2


def exchange(one: Path, other: Path) -> None:
    """Let two paths of one file system change places; ``OSError`` where the system cannot.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as name:
    ...     folder = Path(name)
    ...     for part in ("old/a", "new/b"):
    ...         (folder / part).mkdir(parents=True)
    ...     exchange(folder / "new", folder / "old")
    ...     [path.name for path in (folder / "old").iterdir()]
    ['b']
    """
    library = ctypes.CDLL(None, use_errno=True)
    paths = os.fsencode(one), os.fsencode(other)
    try:
        if sys.platform == "darwin":
            failed = library.renamex_np(*paths, _SWAP)
        else:
            failed = library.renameat2(_HERE, paths[0], _HERE, paths[1], _SWAP)
    except AttributeError:
        raise OSError("this system cannot exchange two folders") from None
    if failed:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), str(one), None, str(other))
