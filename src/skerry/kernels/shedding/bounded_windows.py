"""Windows that hold so many tuples and no more: slots by stream, and a hash table from keys to them.

As ``kernels.joins.snjoin_table``, with one difference: any tuple may leave at any time. So a tuple has a slot of its
stream, its number there is used again when it has left, and lists are linked both ways:

    entry of a key ├ stream 0 ──► 9 ⇄ 4            tuples of the key, newest first
                   └ stream 1 ──► 2
    stream 0:  4 ⇄ 7 ⇄ 9                           in order of arrival, 0 before the first and behind the last
    class c:   7 ⇄ 9                               in order of arrival (``priority_queues``)

An entry that no tuple is left of stays where it is until entries run short, for its key may come again, and is then
used for another, unless the policy wants to remember it; that is between calls, so an entry that was found stays
good during one. Memory is bounded by the budgets, however many keys are seen. Number 0 and entry 0 are nobody's.

Memory access is what costs most, so an arrival that is joined with nothing finds all that it needs of its key in the
entry, and what the next ones will touch is fetched ahead.
"""

import numpy as np

from skerry.kernels._prefetch import prefetch
from skerry.kernels._reference import inlined_kernel, inner_kernel
from skerry.kernels.bits import lowest_bit
from skerry.kernels.hash import hash_of
from skerry.kernels.joins.snjoin_table import LONGEST_SPAN
from skerry.kernels.shedding.window_arrays import FREE, FREED, NONE, USED, partition_of

__all__ = [
    "at",
    "existing",
    "first_arrival",
    "insert",
    "lacks_entries",
    "lacks_slots",
    "look_ahead",
    "next_number",
    "remove",
]


@inlined_kernel
def at(windows, stream, number):
    """The index of the slot of a stream's tuple; unsigned, so that Numba need not check for negative indices."""
    return np.uint64(windows.streams[stream]["base"]) + np.uint64(number)


@inlined_kernel
def look_ahead(windows, keys, row, found):
    """Find the entries of the next few tuples together: their memory accesses overlap, and cost about as one.

    A key that has none gets one.
    """
    partitions, first = windows.partitions, np.uint64(row)
    count = np.uint64(min(found.size, keys.size - row))
    for ahead in range(count):
        found[ahead] = partition_of(partitions, hash_of(keys[first + ahead]))
        prefetch(partitions, np.int64(found[ahead]))
    for ahead in range(count):
        prefetch(windows.entries, np.int64(partitions[found[ahead]]))
    for ahead in range(count):
        found[ahead] = _find_or_enter(windows, keys[first + ahead], found[ahead])
    return row + found.size


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
    entry = np.int64(np.uint32(room[FREE]))
    if entry == NONE:
        room[USED] += 1
        entry = np.int64(np.uint32(room[USED]))
    else:
        following = np.int64(entries[entry]["chained"])
        room[FREE] = following
        room[FREED] -= 1
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
    return windows.room[FREED] + windows.entries.size - 1 - windows.room[USED] < count


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
    """The streams whose newest tuple of a key has not ended; looked up again once the first of them has."""
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
    slot["serial"] = np.uint32(slots["received"] & 0xFFFFFFFF)
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
