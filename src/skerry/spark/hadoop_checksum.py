r"""The checksums that Hadoop keeps beside the files it writes to a local disk: ``.7.crc`` for ``7``.

Spark looks at them when it reads, and then complains with a stack trace, or not at all of a file that has become
empty. Small files are looked at here before Spark is.

    c r c \0 | bytes per checksum, 4 bytes | CRC-32 of each piece, 4 bytes each
"""

import struct
import zlib
from pathlib import Path

__all__ = ["is_intact"]

_MAGIC = b"crc\0"


def is_intact(path: Path) -> bool:
    """Whether a file is as its checksum says; one without a readable checksum cannot be told, and passes."""
    try:
        found = path.with_name(f".{path.name}.crc").read_bytes()
    except OSError:
        return True
    if len(found) < 8 or not found.startswith(_MAGIC):
        return True
    (piece,) = struct.unpack(">I", found[4:8])
    content = path.read_bytes()
    sums = [zlib.crc32(content[start : start + piece]) for start in range(0, len(content), piece)]
    return found[8:] == struct.pack(f">{len(sums)}I", *sums)
