"""Compressed text files, as the text that is in them.

A compressed file can only be read from its beginning, while blocks are read in any order and by any process, and a
position must mean the same after a restart. So each process unpacks a file once, into a folder of its own, and reads
the copy: positions are bytes of the text. Costs its room in the temporary folder until the process ends.
"""

import os
import tempfile
import threading
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa

from skerry.model.private_folder import make_private_folder

__all__ = ["PACKED", "forget_copy", "format_suffix", "is_packed", "open_text"]

PACKED = {".gz": "gzip", ".zst": "zstd"}
"""Compressions by suffix, as Arrow calls them."""
_PIECE_BYTES = 4 << 20

_lock = threading.Lock()
_copies: dict[tuple[str, int, int], Path] = {}
"""What this process has unpacked, by path, size and time of the file."""
_folders: dict[int, Path] = {}
"""The folder of copies, by process: a child must not take that of its parent for its own."""


def is_packed(path: str) -> bool:
    """Whether a file is compressed, by its suffix."""
    return Path(path).suffix.lower() in PACKED


def format_suffix(path: str) -> str:
    """The suffix that tells the format of a file, in lower case.

    >>> format_suffix("data/A.CSV.gz"), format_suffix("a.jsonl")
    ('.csv', '.jsonl')
    """
    name = Path(path)
    return (name.with_suffix("") if is_packed(path) else name).suffix.lower()


def open_text(path: str) -> BinaryIO:
    """Open a text file, or the text of a compressed one."""
    return open(_find_copy(path) if is_packed(path) else path, "rb")


def forget_copy(path: str) -> None:
    """Give back the room of a file's text, which nobody will read any more."""
    with _lock:
        for old in [each for each in _copies if each[0] == path]:
            _copies.pop(old).unlink(missing_ok=True)


def _find_copy(path: str) -> Path:
    """The copy of a file as it is now."""
    stat = os.stat(path)
    key = (path, stat.st_size, stat.st_mtime_ns)
    with _lock:
        if key not in _copies or not _copies[key].exists():
            for old in [each for each in _copies if each[0] == path]:
                _copies.pop(old).unlink(missing_ok=True)
            _copies[key] = _unpack(path)
        return _copies[key]


def _unpack(path: str) -> Path:
    folder = _folders.get(os.getpid())
    if folder is None or not folder.exists():
        folder = _folders[os.getpid()] = make_private_folder()
    descriptor, copy = tempfile.mkstemp(dir=folder)
    with (
        pa.OSFile(path) as packed,
        pa.CompressedInputStream(packed, PACKED[Path(path).suffix.lower()]) as stream,
        open(descriptor, "wb") as text,
    ):
        while piece := stream.read(_PIECE_BYTES):
            text.write(piece)
    return Path(copy)
