"""The arrays in which bounded windows keep tuples and keys: their records, their room, and how they grow.

Slots of a stream follow on each other, and a tuple keeps its number among them when there are more. An entry stays
where it is, for tuples point to it.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from skerry.kernels._jit import kernel
from skerry.kernels._reference import inlined_kernel, inner_kernel
from skerry.kernels.hash import hash_of
from skerry.kernels.joins.snjoin_table import FIRST_MOMENT
from skerry.model.arrays import Bools, Int64s

__all__ = [
    "FREE",
    "FREED",
    "GHOST",
    "NONE",
    "SAMPLED",
    "USED",
    "Records",
    "Windows",
    "complete",
    "empty_windows",
    "grow_windows",
    "lengthen",
    "move_rows",
    "partition_of",
    "rows_held",
    "strip",
]

Records = npt.NDArray[np.void]

NONE = 0
SAMPLED, GHOST = 1, 2
"""A tuple's fate: of the keyed sample; chosen as a victim, and spared for the sample's sake."""

_TUPLE = np.dtype(
    [
        ("start", np.int64),
        ("end", np.int64),
        ("row", np.int64),
        ("entry", np.uint32),
        ("kind", np.int32),  # its class
        ("older", np.uint32),  # of its key
        ("newer", np.uint32),
        ("later", np.uint32),  # to have arrived in its stream
        ("earlier", np.uint32),
        ("younger", np.uint32),  # of its class
        ("elder", np.uint32),
        ("fate", np.uint32),
        (
            "serial",
            np.uint32,
        ),  # how many had arrived in its stream before, as far as 32 bits go; then it is a cache line
    ]
)
_ENTRY = np.dtype(
    [
        ("key", np.int64),
        ("chained", np.uint32),  # next of its partition
        ("held", np.int32),  # how many tuples; -1 if there are none, and it is remembered
        ("present", np.uint64),  # streams that have tuples
        ("until", np.int64),  # the newest tuples of these streams end then, or later
    ]
)
_STREAM = np.dtype(
    [
        ("base", np.uint32),  # where its slots begin
        ("size", np.uint32),  # how many there are, the first of them nobody's
        ("free", np.uint32),  # a slot that was used
        ("used", np.uint32),  # how many ever were
        ("newest_start", np.int64),
        ("longest", np.int64),  # window
        ("budget", np.int64),
        ("held", np.int64),
        ("samples", np.int64),  # how many of those held are of the sample, and ghosts
        ("ghosts", np.int64),
        ("received", np.int64),
        ("shed", np.int64),
        ("expired", np.int64),
    ]
)
FREE, USED, FREED = range(3)
"""What is known of the room for entries."""
_SMALLEST = 256
_LINE = 64
_GROWTH_BITS = 2
_PARTITIONS = 2
"""How many there are for each entry."""
_FEW = 2**15
"""As long as there are fewer entries, and not many more than tuples, room is cheaper than to enter keys again."""


class Windows(NamedTuple):
    """Tuples, keys and streams, one record each."""

    partitions: npt.NDArray[np.uint32]
    """The first entry of each."""
    entries: Records
    """What is known of a key, beside its heads."""
    heads: npt.NDArray[np.uint32]
    """The newest tuple by entry and stream."""
    tuples: Records
    """A cache line each."""
    streams: Records
    room: Int64s
    """An entry that is free, how many have ever been used, and how many of those are free again."""
    chosen: Int64s
    """Room for the tuples of one product, stream by stream, after where those of each stream begin."""


def empty_windows(budgets: Int64s) -> Windows:
    """Windows for as many streams as there are budgets; room is made as tuples come."""
    streams = np.zeros(budgets.size, _STREAM)
    streams["newest_start"], streams["budget"] = FIRST_MOMENT, budgets
    streams["base"], streams["size"] = np.arange(budgets.size) * _SMALLEST, _SMALLEST
    entries, heads = _entries(_SMALLEST, budgets.size)
    windows = Windows(
        partitions=np.zeros(_PARTITIONS * _SMALLEST, np.uint32),
        entries=entries,
        heads=heads,
        tuples=_aligned_zeros(_SMALLEST * budgets.size, _TUPLE),
        streams=streams,
        room=np.zeros(3, np.int64),
        chosen=np.empty(0, np.int64),
    )
    return _with_scratch(windows)


def strip(windows: Windows) -> Windows:
    """The same windows without the arrays that follow from the others: what has to be saved."""
    return windows._replace(chosen=np.empty(0, np.int64))


def complete(windows: Windows) -> Windows:
    """Windows that were stripped, with the arrays that follow from the others."""
    (entries, heads), tuples = _entries(*windows.heads.shape), _aligned_zeros(len(windows.tuples), _TUPLE)
    entries[:], heads[:], tuples[:] = windows.entries, windows.heads, windows.tuples
    return _with_scratch(windows._replace(entries=entries, heads=heads, tuples=tuples))


def _with_scratch(windows: Windows) -> Windows:
    """The same windows, with room for products."""
    return windows._replace(chosen=np.empty(1 + len(windows.streams) + len(windows.tuples), np.int64))


def grow_windows(windows: Windows) -> Windows:
    """The same windows with room for more: for tuples of the streams that have none, or for keys if all have.

    Streams that will soon have none get more with the others, for all are moved.
    """
    streams = windows.streams
    full = (streams["free"] == NONE) & (streams["used"] + 1 == streams["size"])
    soon = (2 * streams["used"] >= streams["size"]) & (streams["size"] <= streams["budget"])
    return _with_more_slots(windows, full | soon) if full.any() else _with_room_for_entries(windows)


def _with_more_slots(windows: Windows, full: Bools) -> Windows:
    """Numbers stay, for they count from where the slots of the stream begin."""
    streams = windows.streams.copy()
    streams["size"] <<= np.where(full, _GROWTH_BITS, 0).astype(np.uint32)
    streams["base"] = np.cumsum(streams["size"]) - streams["size"]
    return _with_scratch(windows._replace(tuples=move_rows(windows.tuples, windows.streams, streams), streams=streams))


def move_rows(rows: npt.NDArray, streams: Records, larger: Records) -> npt.NDArray:
    """An array with one row per slot, moved to where the larger windows have these slots."""
    found = _aligned_zeros(int(larger["size"].sum()), rows.dtype)
    for old, new in zip(streams, larger, strict=True):
        found[new["base"] : new["base"] + old["size"]] = rows[old["base"] : old["base"] + old["size"]]
    return found


def _entries(size: int, streams: int) -> tuple[Records, npt.NDArray[np.uint32]]:
    """Entries and heads, those of a key side by side in as few cache lines as will do."""
    width = -(-(_ENTRY.itemsize + 4 * streams) // _LINE) * _LINE
    room = _aligned_zeros(size * width, np.dtype(np.uint8))
    return (
        np.ndarray((size,), _ENTRY, room, 0, (width,)),
        np.ndarray((size, streams), np.uint32, room, _ENTRY.itemsize, (width, 4)),
    )


def _aligned_zeros(size: int, dtype: np.dtype) -> npt.NDArray:
    """Zeros that begin where a cache line does."""
    room = np.zeros(size * dtype.itemsize + _LINE, np.uint8)
    begin = -room.ctypes.data % _LINE
    return room[begin : begin + size * dtype.itemsize].view(dtype)


def _with_room_for_entries(windows: Windows) -> Windows:
    """Entries that hold nothing are free; if those are few, or if all are, there are twice as many."""
    entries, size = windows.entries, len(windows.entries)
    few = size < min(_FEW, 2 * len(windows.tuples))
    if few or np.count_nonzero(entries["held"] == 0) < size // 2:
        larger, heads = _entries(2 * size, len(windows.streams))
        larger[:size], heads[:size] = entries, windows.heads
        partitions = np.zeros(2 * _PARTITIONS * size, np.uint32)
        windows = windows._replace(partitions=partitions, entries=larger, heads=heads)
    windows.partitions[:] = NONE
    _rechain(windows.partitions, windows.entries, windows.room)
    return windows


def lengthen(rows: npt.NDArray, size: int) -> npt.NDArray:
    """The same rows, and empty ones up to a size."""
    if len(rows) == size:
        return rows
    return np.concatenate([rows, np.zeros((size - len(rows), *rows.shape[1:]), rows.dtype)])


@inner_kernel
def _rechain(partitions, entries, room):
    """Chain entries anew; they stay where they are, for tuples point to them."""
    room[FREE], room[FREED] = NONE, 0
    for entry in range(1, 1 + room[USED]):
        if entries[entry]["held"] != 0:
            partition = partition_of(partitions, hash_of(entries[entry]["key"]))
            entries[entry]["chained"] = partitions[partition]
            partitions[partition] = entry
        else:
            entries[entry]["chained"] = room[FREE]
            room[FREE] = entry
            room[FREED] += 1


@inlined_kernel
def partition_of(partitions, hashed):
    """The partition of keys with this hash."""
    return np.int64(hashed & np.uint64(partitions.size - 1))


def rows_held(windows: Windows, stream: int) -> Int64s:
    """The rows of a stream's tuples, in order of arrival."""
    return _rows_held(windows.tuples, windows.streams[stream])


@kernel
def _rows_held(tuples, stream):
    rows, number = np.empty(stream["held"], np.int64), tuples[stream["base"]]["later"]
    for index in range(rows.size):
        here = np.int64(stream["base"]) + np.int64(number)
        rows[index] = tuples[here]["row"]
        number = tuples[here]["later"]
    return rows
