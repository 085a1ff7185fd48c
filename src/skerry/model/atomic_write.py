"""A file written whole or not at all: beside its path first, then moved there."""

import os
from pathlib import Path

import pyarrow as pa

__all__ = ["write_atomically"]


def write_atomically(path: Path, content: bytes | pa.Buffer) -> None:
    """Put ``content`` where readers find all of it, or what was there before.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     write_atomically(Path(folder) / "run.json", b"{}")
    ...     [path.name for path in Path(folder).iterdir()]
    ['run.json']
    """
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    beside.write_bytes(content)
    os.replace(beside, path)
