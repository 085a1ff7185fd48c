"""Windows that hold so many tuples and no more: slots by stream, and a hash table from keys to them.

As ``kernels.occurrences``, with one difference: any tuple may leave at any time. So a tuple has a slot of its
stream, its number there is used again when it has left, and lists are linked both ways:

    entry of a key ├ stream 0 ──► 9 ⇄ 4            tuples of the key, newest first
                   └ stream 1 ──► 2
    stream 0:  4 ⇄ 7 ⇄ 9                           in order of arrival, 0 before the first and behind the last
    class c:   7 ⇄ 9                               in order of arrival (kernels.queues)

An entry that no tuple is left of stays where it is until entries run short, for its key may come again, and is then
used for another, unless the policy wants to remember it; that is between calls, so an entry that was found stays
good during one. Memory is bounded by the budgets, however many keys are seen. Number 0 and entry 0 are nobody's.

What is slow is the way to memory, so an arrival that is joined with nothing finds all that it needs of its key in the
entry, and what the next ones will touch is fetched ahead.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from skerry.kernels._jit import kernel
from skerry.kernels._prefetch import prefetch
from skerry.kernels._reference import inlined_kernel, inner_kernel
from skerry.kernels.bits import lowest_bit
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
    "existing",
    "first_arrival",
    "insert",
    "lacks_entries",
    "lacks_slots",
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
_FREE, _USED, _FREED = range(3)
_SMALLEST = 256
_LINE = 64
_GROWTH_BITS = 2
_PARTITIONS = 2
"""How many there are for each entry."""
_FEW = 2**15
"""As long as there are fewer entries, and not many more than tuples, room is cheaper than to enter keys again."""


class Windows(NamedTuple):
    """Tuples, keys and streams, a record each."""

    partitions: npt.NDArray[np.uint32]
    """The first entry of each."""
    entries: Records
    """What is known of a key; two to a cache line."""
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
        tuples=_aligned(_SMALLEST * budgets.size, _TUPLE),
        streams=streams,
        room=np.zeros(3, np.int64),
        chosen=np.empty(0, np.int64),
    )
    return _with_scratch(windows)


def stripped(windows: Windows) -> Windows:
    """The same windows without what follows from the rest."""
    return windows._replace(chosen=np.empty(0, np.int64))


def completed(windows: Windows) -> Windows:
    """What was stripped, with what follows from the rest."""
    (entries, heads), tuples = _entries(*windows.heads.shape), _aligned(len(windows.tuples), _TUPLE)
    entries[:], heads[:], tuples[:] = windows.entries, windows.heads, windows.tuples
    return _with_scratch(windows._replace(entries=entries, heads=heads, tuples=tuples))


def _with_scratch(windows: Windows) -> Windows:
    """The same windows, with room for products."""
    return windows._replace(chosen=np.empty(1 + len(windows.streams) + len(windows.tuples), np.int64))


def roomier(windows: Windows) -> Windows:
    """The same windows with room for more: for tuples of the streams that have none, or for keys if all have.

    Streams that will soon have none get more with the others, for all are moved.
    """
    streams = windows.streams
    full = (streams["free"] == NONE) & (streams["used"] + 1 == streams["size"])
    soon = (2 * streams["used"] >= streams["size"]) & (streams["size"] <= streams["budget"])
    return _with_more_slots(windows, full | soon) if full.any() else _with_room_for_entries(windows)


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


def _entries(size: int, streams: int) -> tuple[Records, npt.NDArray[np.uint32]]:
    """Entries and heads, those of a key side by side in as few cache lines as will do."""
    width = -(-(_ENTRY.itemsize + 4 * streams) // _LINE) * _LINE
    room = _aligned(size * width, np.dtype(np.uint8))
    return (
        np.ndarray((size,), _ENTRY, room, 0, (width,)),
        np.ndarray((size, streams), np.uint32, room, _ENTRY.itemsize, (width, 4)),
    )


def _aligned(size: int, dtype: np.dtype) -> npt.NDArray:
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


def longer(rows: npt.NDArray, size: int) -> npt.NDArray:
    """The same rows, and empty ones up to a size."""
    if len(rows) == size:
        return rows
    return np.concatenate([rows, np.zeros((size - len(rows), *rows.shape[1:]), rows.dtype)])


@inner_kernel
def _rechain(partitions, entries, room):
    """Chain entries anew; they stay where they are, for tuples point to them."""
    room[_FREE], room[_FREED] = NONE, 0
    for entry in range(1, 1 + room[_USED]):
        if entries[entry]["held"] != 0:
            partition = _partition(partitions, hash_of(entries[entry]["key"]))
            entries[entry]["chained"] = partitions[partition]
            partitions[partition] = entry
        else:
            entries[entry]["chained"] = room[_FREE]
            room[_FREE] = entry
            room[_FREED] += 1


@inlined_kernel
def at(windows, stream, number):
    """Where the slot of a stream's tuple is; without a sign, for then it need not be looked at."""
    return np.uint64(windows.streams[stream]["base"]) + np.uint64(number)


@inlined_kernel
def _partition(partitions, hashed):
    return np.int64(hashed & np.uint64(partitions.size - 1))


@inlined_kernel
def look_ahead(windows, keys, place, found):
    """Find the entries of the next few tuples together: memory answers many questions in the time of one.

    A key that has none gets one.
    """
    partitions, first = windows.partitions, np.uint64(place)
    count = np.uint64(min(found.size, keys.size - place))
    for ahead in range(count):
        found[ahead] = _partition(partitions, hash_of(keys[first + ahead]))
        prefetch(partitions, np.int64(found[ahead]))
    for ahead in range(count):
        prefetch(windows.entries, np.int64(partitions[found[ahead]]))
    for ahead in range(count):
        found[ahead] = _find_or_enter(windows, keys[first + ahead], found[ahead])
    return place + found.size


@inlined_kernel
def _find_or_enter(windows, key, partition):
    entries = windows.entries
    entry = np.int64(windows.partitions[partition])
    while entry != NONE and entries[entry]["key"] != key:
        entry = np.int64(entries[entry]["chained"])
    return entry if entry != NONE else _enter(windows, key, partition)


@inlined_kernel
def _enter(windows, key, partition):
    """A new entry, at the head of its partition; the next one that is free is fetched meanwhile."""
    partitions, entries, room = windows.partitions, windows.entries, windows.room
    entry = np.int64(np.uint32(room[_FREE]))
    if entry == NONE:
        room[_USED] += 1
        entry = np.int64(np.uint32(room[_USED]))
    else:
        following = np.int64(entries[entry]["chained"])
        room[_FREE] = following
        room[_FREED] -= 1
        prefetch(entries, following)
    entries[entry]["key"] = key
    entries[entry]["held"] = 0
    entries[entry]["present"] = 0
    entries[entry]["until"] = LONGEST_SPAN
    entries[entry]["chained"] = partitions[partition]
    partitions[partition] = entry
    return entry


@inlined_kernel
def lacks_entries(windows, count):
    """Whether there is no room for so many new keys."""
    return windows.room[_FREED] + windows.entries.size - 1 - windows.room[_USED] < count


@inlined_kernel
def lacks_slots(windows, stream):
    """Whether another tuple of the stream cannot be taken in."""
    slots = windows.streams[stream]
    return (slots["free"] == NONE) & (slots["used"] + 1 == slots["size"])


@inlined_kernel
def existing(windows, entry, own, start):
    """The existence pattern of an arrival: bits of its own stream, and of those with a tuple that has not ended."""
    found = windows.entries[entry]["present"]
    if windows.entries[entry]["until"] < start:
        found = _lasting(windows, entry, start)
    return found | np.uint64(1) << np.uint64(own)


@inner_kernel
def _lasting(windows, entry, start):
    """The streams whose newest tuple of a key has not ended; told anew once the first of them has."""
    left, found, until = windows.entries[entry]["present"], np.uint64(0), LONGEST_SPAN
    while left != 0:
        stream = lowest_bit(left)
        end = windows.tuples[at(windows, stream, windows.heads[entry, stream])]["end"]
        found |= np.uint64(end >= start) << np.uint64(stream)
        until = min(until, end)
        left &= left - np.uint64(1)
    windows.entries[entry]["until"] = until
    return found


@inlined_kernel
def next_number(windows, stream):
    """The slot that the next tuple of a stream goes to."""
    free = np.int64(windows.streams[stream]["free"])
    return free if free != NONE else np.int64(windows.streams[stream]["used"]) + 1


@inlined_kernel
def insert(windows, entry, stream, number):
    """Put a tuple that is written down in its slot into the lists of its key and of arrival."""
    slots, tuples, base = windows.streams[stream], windows.tuples, at(windows, stream, NONE)
    slot, nobody = tuples[base + np.uint64(number)], tuples[base]
    if slots["free"] != NONE:
        slots["free"] = slot["later"]
    else:
        slots["used"] = number
    _insert_by_key(windows, entry, stream, number)
    last = nobody["earlier"]
    slot["later"] = NONE
    slot["earlier"] = last
    tuples[base + np.uint64(last)]["later"] = number
    nobody["earlier"] = number
    slots["held"] += 1
    windows.entries[entry]["held"] = max(windows.entries[entry]["held"], 0) + 1


@inlined_kernel
def _insert_by_key(windows, entry, stream, number):
    slots, tuples, base = windows.streams[stream], windows.tuples, at(windows, stream, NONE)
    slot = tuples[base + np.uint64(number)]
    start, end = slot["start"], slot["end"]
    newer, older = np.int64(NONE), np.int64(windows.heads[entry, stream])
    if start < slots["newest_start"]:
        while older != NONE and tuples[base + np.uint64(older)]["start"] > start:
            newer, older = older, np.int64(tuples[base + np.uint64(older)]["older"])
    slot["entry"] = entry
    _link(windows, base, entry, stream, newer, number)
    _link(windows, base, entry, stream, number, older)
    measured = start >= 0 or end < start + LONGEST_SPAN
    slots["longest"] = max(end - start if measured else LONGEST_SPAN, slots["longest"])
    slots["newest_start"] = max(start, slots["newest_start"])


@inlined_kernel
def _link(windows, base, entry, stream, newer, older):
    """Let two tuples of a key follow on each other, or one be the first or the last."""
    if newer == NONE:
        group, bit = windows.entries[entry], np.uint64(1) << np.uint64(stream)
        windows.heads[entry, stream] = older
        present, until = group["present"] | bit if older != NONE else group["present"] & ~bit, group["until"]
        if older != NONE:
            until = min(until, windows.tuples[base + np.uint64(older)]["end"])
        group["present"] = present
        group["until"] = until if present != 0 else LONGEST_SPAN
    else:
        windows.tuples[base + np.uint64(newer)]["older"] = older
    windows.tuples[base + np.uint64(older)]["newer"] = newer


@inlined_kernel
def remove(windows, stream, number):
    """Take a tuple out of the lists of its key and of arrival; its slot is free. Gives its entry."""
    slots, tuples, base = windows.streams[stream], windows.tuples, at(windows, stream, NONE)
    slot = tuples[base + np.uint64(number)]
    entry, later, earlier = np.int64(slot["entry"]), slot["later"], slot["earlier"]
    _link(windows, base, entry, stream, np.int64(slot["newer"]), np.int64(slot["older"]))
    tuples[base + np.uint64(earlier)]["later"] = later
    tuples[base + np.uint64(later)]["earlier"] = earlier
    slot["later"] = slots["free"]
    slots["free"] = number
    slots["held"] -= 1
    windows.entries[entry]["held"] -= 1
    return entry


@inlined_kernel
def first_arrival(windows, stream):
    """The first tuple of a stream to have arrived, or none. What it takes to remove it is fetched, and the next one."""
    tuples, base = windows.tuples, at(windows, stream, NONE)
    number = np.int64(tuples[base]["later"])
    slot = tuples[base + np.uint64(number)]
    prefetch(tuples, base + np.uint64(slot["later"]))
    prefetch(windows.entries, np.int64(slot["entry"]))
    return number


def rows_held(windows: Windows, stream: int) -> Int64s:
    """The rows of a stream's tuples, in order of arrival."""
    return _rows_held(windows.tuples, windows.streams[stream])


@kernel
def _rows_held(tuples, stream):
    rows, number = np.empty(stream["held"], np.int64), tuples[stream["base"]]["later"]
    for place in range(rows.size):
        here = np.int64(stream["base"]) + np.int64(number)
        rows[place] = tuples[here]["row"]
        number = tuples[here]["later"]
    return rows
