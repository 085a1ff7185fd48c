"""A file written whole or not at all: beside its path first, then moved there."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa

__all__ = ["replace_atomically", "write_atomically"]


def write_atomically(path: Path, content: bytes | pa.Buffer) -> None:
    """Put ``content`` where readers find all of it, or what was there before.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     write_atomically(Path(folder) / "run.json", b"{}")
    ...     [path.name for path in Path(folder).iterdir()]
    ['run.json']
    """
    with replace_atomically(path) as beside:
        beside.write_bytes(content)


@contextmanager
def replace_atomically(path: Path) -> Iterator[Path]:
    """Give a hidden path beside ``path`` to write to, under a name no other process uses, and move it there at the end.

    If writing fails, nothing is left beside the path.
    """
    beside = path.with_name(f".{path.name.lstrip('.')}.{os.getpid()}")
    try:
        yield beside
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    os.replace(beside, path)
