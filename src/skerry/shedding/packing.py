"""Arrays as bytes, without the parts that nobody has written to.

Tables are made with room to spare, and room that was never used is zero; so blocks of zeros are left out.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from skerry.model.arrays import UInt8s

__all__ = ["pack_arrays", "unpack_arrays"]


_BLOCK = 512
_LENGTH = 8


def pack_arrays(arrays: Mapping[str, npt.NDArray[Any]]) -> bytes:
    """Names, shapes, and what is not zero.

    >>> len(pack_arrays({"table": np.zeros(1_000_000)})) < 10_000
    True
    """
    raw = {name: np.ascontiguousarray(array).reshape(-1).view(np.uint8) for name, array in arrays.items()}
    layout = [[name, arrays[name].shape, row.size] for name, row in raw.items()]
    header = json.dumps(layout).encode()
    return len(header).to_bytes(_LENGTH, "little") + header + b"".join(p for row in raw.values() for p in _pieces(row))


def _pieces(row: UInt8s) -> Iterator[bytes]:
    """Which whole blocks are not zero, a bit each; those blocks; and what is left at the end."""
    whole = row[: row.size // _BLOCK * _BLOCK].reshape(-1, _BLOCK)
    used = whole.view(np.uint64).any(axis=1)
    yield np.packbits(used).tobytes()
    yield whole[used].tobytes()
    yield row[whole.size :].tobytes()


def unpack_arrays(blob: bytes, kinds: Mapping[str, np.dtype[Any]]) -> dict[str, npt.NDArray[Any]]:
    """The arrays again, each of its kind.

    >>> unpack_arrays(pack_arrays({"table": np.arange(3)}), {"table": np.dtype(np.int64)})["table"].tolist()
    [0, 1, 2]
    """
    body = np.frombuffer(blob, np.uint8)
    position = _LENGTH + int.from_bytes(blob[:_LENGTH], "little")
    found = {}
    for name, shape, size in json.loads(blob[_LENGTH:position]):
        row, position = _unpack_row(body, position, size)
        found[name] = row.view(kinds[name]).reshape(shape)
    return found


def _unpack_row(body: UInt8s, position: int, size: int) -> tuple[UInt8s, int]:
    """The row of bytes that begins at a position, and the position of the next one."""
    row, count = np.zeros(size, np.uint8), size // _BLOCK
    mask = -(-count // 8)
    used = np.unpackbits(body[position : position + mask], count=count).astype(np.bool_)
    position += mask
    blocks = int(np.count_nonzero(used)) * _BLOCK
    row[: count * _BLOCK].reshape(-1, _BLOCK)[used] = body[position : position + blocks].reshape(-1, _BLOCK)
    position += blocks
    rest = size - count * _BLOCK
    row[size - rest :] = body[position : position + rest]
    return row, position + rest
