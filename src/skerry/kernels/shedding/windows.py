"""Windows that hold so many tuples and no more: slots by stream, and a hash table from keys to them.

As ``kernels.occurrences``, with one difference: any tuple may leave at any time. So a tuple has a slot of its
stream, its number there is used again when it has left, and lists are linked both ways:

    entry of a key ├ stream 0 ──► 9 ⇄ 4            tuples of the key, newest first
                   └ stream 1 ──► 2
    stream 0:  4 ⇄ 7 ⇄ 9                           in order of arrival
    class c:   7 ⇄ 9                               in order of arrival (kernels.queues)

An entry that no tuple is left of stays where it is until entries run short, for its key may come again, and is then
used for another, unless the policy wants to remember it; that is between calls, so an entry that was found stays
good during one. Memory is bounded by the budgets, however many keys are seen. Number 0 and entry 0 are nobody's.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from skerry.kernels._jit import kernel
from skerry.kernels._prefetch import prefetch
from skerry.kernels._reference import inlined_kernel, inner_kernel
from skerry.kernels.hash import hash_of
from skerry.kernels.joins.occurrences import FIRST_MOMENT, LONGEST_SPAN

__all__ = [
    "GHOST",
    "NONE",
    "SAMPLED",
    "Records",
    "Windows",
    "at",
    "completed",
    "empty_windows",
    "enter",
    "existing",
    "find",
    "insert",
    "lacks_room",
    "longer",
    "look_ahead",
    "moved",
    "next_number",
    "remove",
    "roomier",
    "rows_held",
    "stripped",
]

Int64s = npt.NDArray[np.int64]
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
        ("unused", np.uint32),  # a tuple is a cache line
    ]
)
_ENTRY = np.dtype([("key", np.int64), ("chained", np.uint32), ("held", np.int32)])
_STREAM = np.dtype(
    [
        ("base", np.uint32),  # where its slots begin
        ("size", np.uint32),  # how many there are, the first of them nobody's
        ("free", np.uint32),  # a slot that was used
        ("used", np.uint32),  # how many ever were
        ("first", np.uint32),  # to have arrived
        ("last", np.uint32),
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
_FREE, _USED = range(2)
_SMALLEST = 256
_LINE = 64
_GROWTH_BITS = 2
_PARTITIONS = 2
"""How many there are for each entry."""


class Windows(NamedTuple):
    """Tuples, keys and streams, a record each."""

    partitions: npt.NDArray[np.uint32]
    """The first entry of each."""
    entries: Records
    """Key, next of its partition, how many tuples are held (-1 if there are none, and it is remembered)."""
    heads: npt.NDArray[np.uint32]
    """The newest tuple by entry and stream."""
    ends: Int64s
    """When that ends, long ago if there is none: so an existence pattern is told without a look at tuples."""
    tuples: Records
    streams: Records
    room: Int64s
    """An entry that is free, and how many have ever been used."""
    chosen: Int64s
    """Room for the tuples of one product, stream by stream, after where those of each stream begin."""


def empty_windows(budgets: Int64s) -> Windows:
    """Windows for as many streams as there are budgets; room is made as tuples come."""
    streams = np.zeros(budgets.size, _STREAM)
    streams["newest_start"], streams["budget"] = FIRST_MOMENT, budgets
    streams["base"], streams["size"] = np.arange(budgets.size) * _SMALLEST, _SMALLEST
    windows = Windows(
        partitions=np.zeros(_PARTITIONS * _SMALLEST, np.uint32),
        entries=np.zeros(_SMALLEST, _ENTRY),
        heads=np.zeros((_SMALLEST, budgets.size), np.uint32),
        ends=np.full((_SMALLEST, budgets.size), FIRST_MOMENT, np.int64),
        tuples=_aligned(_SMALLEST * budgets.size, _TUPLE),
        streams=streams,
        room=np.zeros(2, np.int64),
        chosen=np.empty(0, np.int64),
    )
    return _with_scratch(windows)


def stripped(windows: Windows) -> Windows:
    """The same windows without what follows from the rest."""
    nothing = np.empty(0, np.int64)
    return windows._replace(ends=nothing.reshape(0, len(windows.streams)), chosen=nothing)


def completed(windows: Windows) -> Windows:
    """What was stripped, with what follows from the rest."""
    heads, ends = windows.heads, windows.tuples["end"]
    slots = windows.streams["base"].astype(np.int64) + heads
    tuples = _aligned(len(windows.tuples), _TUPLE)
    tuples[:] = windows.tuples
    return _with_scratch(windows._replace(tuples=tuples, ends=np.where(heads != NONE, ends[slots], FIRST_MOMENT)))


def _with_scratch(windows: Windows) -> Windows:
    """The same windows, with room for products."""
    return windows._replace(chosen=np.empty(1 + len(windows.streams) + len(windows.tuples), np.int64))


def roomier(windows: Windows) -> Windows:
    """The same windows with room for more: for tuples of the streams that have none, or for keys if all have."""
    streams = windows.streams
    full = (streams["free"] == NONE) & (streams["used"] + 1 == streams["size"])
    return _with_more_slots(windows, full) if full.any() else _with_room_for_entries(windows)


def _with_more_slots(windows: Windows, full: npt.NDArray[np.bool_]) -> Windows:
    """Numbers stay, for they count from where the slots of the stream begin."""
    streams = windows.streams.copy()
    streams["size"] <<= np.where(full, _GROWTH_BITS, 0).astype(np.uint32)
    streams["base"] = np.cumsum(streams["size"]) - streams["size"]
    return _with_scratch(windows._replace(tuples=moved(windows.tuples, windows.streams, streams), streams=streams))


def moved(rows: npt.NDArray, streams: Records, larger: Records) -> npt.NDArray:
    """What is kept slot by slot, where there are more slots."""
    found = _aligned(int(larger["size"].sum()), rows.dtype)
    for old, new in zip(streams, larger, strict=True):
        found[new["base"] : new["base"] + old["size"]] = rows[old["base"] : old["base"] + old["size"]]
    return found


def _aligned(size: int, dtype: np.dtype) -> npt.NDArray:
    """Zeros that begin where a cache line does."""
    room = np.zeros(size * dtype.itemsize + _LINE, np.uint8)
    begin = -room.ctypes.data % _LINE
    return room[begin : begin + size * dtype.itemsize].view(dtype)


def _with_room_for_entries(windows: Windows) -> Windows:
    """Entries that hold nothing are free; if they are few, there are twice as many entries."""
    entries, size = windows.entries, len(windows.entries)
    if np.count_nonzero(entries["held"] == 0) < size // 4:
        size *= 2
    larger = windows._replace(
        partitions=np.zeros(_PARTITIONS * size, np.uint32),
        entries=longer(entries, size),
        heads=longer(windows.heads, size),
        ends=longer(windows.ends, size),
    )
    larger.ends[len(entries) :] = FIRST_MOMENT
    _rechain(larger.partitions, larger.entries, larger.room)
    return larger


def longer(rows: npt.NDArray, size: int) -> npt.NDArray:
    """The same rows, and empty ones up to a size."""
    if len(rows) == size:
        return rows
    return np.concatenate([rows, np.zeros((size - len(rows), *rows.shape[1:]), rows.dtype)])


@inner_kernel
def _rechain(partitions, entries, room):
    """Chain entries anew; they stay where they are, for tuples point to them."""
    for entry in range(1, 1 + room[_USED]):
        if entries[entry]["held"] != 0:
            partition = _partition(partitions, entries[entry]["key"])
            entries[entry]["chained"] = partitions[partition]
            partitions[partition] = entry
        else:
            entries[entry]["chained"] = room[_FREE]
            room[_FREE] = entry


@inlined_kernel
def at(windows, stream, number):
    """Where the slot of a stream's tuple is; without a sign, for then it need not be looked at."""
    return np.uint64(windows.streams[stream]["base"]) + np.uint64(number)


@inlined_kernel
def _partition(partitions, key):
    return np.int64(hash_of(key) & np.uint64(partitions.size - 1))


@inlined_kernel
def find(windows, key):
    """The entry of a key, if there is one."""
    entries = windows.entries
    entry = np.int64(windows.partitions[_partition(windows.partitions, key)])
    while entry != NONE and entries[entry]["key"] != key:
        entry = np.int64(entries[entry]["chained"])
    return entry


@inlined_kernel
def look_ahead(windows, keys, place, found):
    """Find the entries of the next few tuples together: memory answers many questions in the time of one."""
    count = min(found.size, keys.size - place)
    for ahead in range(count):
        prefetch(windows.partitions, _partition(windows.partitions, keys[place + ahead]))
    for ahead in range(count):
        prefetch(windows.entries, np.int64(windows.partitions[_partition(windows.partitions, keys[place + ahead])]))
    for ahead in range(count):
        found[ahead] = find(windows, keys[place + ahead])
        prefetch(windows.heads, found[ahead])
        prefetch(windows.ends, found[ahead])
    return place + found.size


@inlined_kernel
def lacks_room(windows, stream):
    """Whether a tuple of the stream, with a new key, cannot be taken in."""
    slots = windows.streams[stream]
    full = (slots["free"] == NONE) & (slots["used"] + 1 == slots["size"])
    return full | ((windows.room[_FREE] == NONE) & (windows.room[_USED] + 1 == windows.entries.size))


@inlined_kernel
def enter(windows, key):
    """A new entry, at the head of its partition."""
    partitions, entries, room = windows.partitions, windows.entries, windows.room
    entry = room[_FREE]
    if entry == NONE:
        room[_USED] += 1
        entry = room[_USED]
    else:
        room[_FREE] = entries[entry]["chained"]
    partition = _partition(partitions, key)
    entries[entry]["key"] = key
    entries[entry]["held"] = 0
    entries[entry]["chained"] = partitions[partition]
    partitions[partition] = entry
    return entry


@inlined_kernel
def existing(windows, entry, own, start):
    """The existence pattern of an arrival: bits of its own stream, and of those with a tuple that has not ended."""
    pattern = np.uint64(1) << np.uint64(own)
    for stream in range(windows.streams.size):
        pattern |= np.uint64(windows.ends[entry, stream] >= start) << np.uint64(stream)
    return pattern


@inlined_kernel
def next_number(windows, stream):
    """The slot that the next tuple of a stream goes to."""
    free = np.int64(windows.streams[stream]["free"])
    return free if free != NONE else np.int64(windows.streams[stream]["used"]) + 1


@inlined_kernel
def insert(windows, entry, stream, number):
    """Put a tuple that is written down in its slot into the lists of its key and of arrival."""
    slots, tuples, here = windows.streams[stream], windows.tuples, at(windows, stream, number)
    if slots["free"] != NONE:
        slots["free"] = tuples[here]["later"]
    else:
        slots["used"] = number
    _insert_by_key(windows, entry, stream, number)
    last = slots["last"]
    tuples[here]["later"] = NONE
    tuples[here]["earlier"] = last
    if last == NONE:
        slots["first"] = number
    else:
        tuples[at(windows, stream, last)]["later"] = number
    slots["last"] = number
    slots["held"] += 1
    windows.entries[entry]["held"] = max(windows.entries[entry]["held"], 0) + 1


@inlined_kernel
def _insert_by_key(windows, entry, stream, number):
    slots, tuples, here = windows.streams[stream], windows.tuples, at(windows, stream, number)
    start, end = tuples[here]["start"], tuples[here]["end"]
    newer, older = np.int64(NONE), np.int64(windows.heads[entry, stream])
    if start < slots["newest_start"]:
        while older != NONE and tuples[at(windows, stream, older)]["start"] > start:
            newer, older = older, np.int64(tuples[at(windows, stream, older)]["older"])
    tuples[here]["entry"] = entry
    _link(windows, entry, stream, newer, number)
    _link(windows, entry, stream, number, older)
    measured = start >= 0 or end < start + LONGEST_SPAN
    slots["longest"] = max(end - start if measured else LONGEST_SPAN, slots["longest"])
    slots["newest_start"] = max(start, slots["newest_start"])


@inlined_kernel
def _link(windows, entry, stream, newer, older):
    """Let two tuples of a key follow on each other, or one be the first or the last."""
    if newer == NONE:
        windows.heads[entry, stream] = older
        end = windows.tuples[at(windows, stream, older)]["end"]
        windows.ends[entry, stream] = end if older != NONE else FIRST_MOMENT
    else:
        windows.tuples[at(windows, stream, newer)]["older"] = older
    if older != NONE:
        windows.tuples[at(windows, stream, older)]["newer"] = newer


@inlined_kernel
def remove(windows, stream, number):
    """Take a tuple out of the lists of its key and of arrival; its slot is free. Gives its entry."""
    slots, tuples, here = windows.streams[stream], windows.tuples, at(windows, stream, number)
    entry = np.int64(tuples[here]["entry"])
    _link(windows, entry, stream, np.int64(tuples[here]["newer"]), np.int64(tuples[here]["older"]))
    later, earlier = tuples[here]["later"], tuples[here]["earlier"]
    if earlier == NONE:
        slots["first"] = later
    else:
        tuples[at(windows, stream, earlier)]["later"] = later
    if later == NONE:
        slots["last"] = earlier
    else:
        tuples[at(windows, stream, later)]["earlier"] = earlier
    tuples[here]["later"] = slots["free"]
    slots["free"] = number
    slots["held"] -= 1
    windows.entries[entry]["held"] -= 1
    return entry


def rows_held(windows: Windows, stream: int) -> Int64s:
    """The rows of a stream's tuples, in order of arrival."""
    return _rows_held(windows.tuples, windows.streams[stream])


@kernel
def _rows_held(tuples, stream):
    rows, number = np.empty(stream["held"], np.int64), stream["first"]
    for place in range(rows.size):
        here = np.int64(stream["base"]) + np.int64(number)
        rows[place] = tuples[here]["row"]
        number = tuples[here]["later"]
    return rows
