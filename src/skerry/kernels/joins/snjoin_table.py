"""Where SNJoin keeps tuples: rings of occurrences by stream, and a hash table from keys to lists of them.

    partition ──► entry ──► entry                 the tuple-value list: one entry per key
                    ├ stream 0 ──► 9 ──► 4        the value-occurrence lists, newest first
                    └ stream 1 ──► 7 ──► (2)
    stream 0:  4 5 6 7 8 9                        the clean-sweep lists, in order of arrival
    stream 1:  3 4 5 6 7                          oldest = 3: the list that leads to 2 has ended before it

An occurrence has a number by the order of arrival in its stream, and lies in its stream's ring at that
number modulo the ring's size; a sweep does no more than to raise the oldest number. For what lies
behind a swept occurrence in a list has ended too: a stream has one window, and a list is in order of
event time (or of arrival, where rows are counted). Entries whose lists have all ended are cleared away
when there is no room for a new one. Number 0 and entry 0 are nobody's.
"""

from typing import NamedTuple

import numpy as np

from skerry.kernels._jit import kernel
from skerry.kernels._prefetch import prefetch
from skerry.kernels.hash import hash_of
from skerry.model.arrays import Int32s, Int64s

__all__ = [
    "END",
    "FIRST_MOMENT",
    "HEADS",
    "LAST_ROWS",
    "LONGEST",
    "LONGEST_SPAN",
    "NEXT",
    "NONE",
    "OLDER",
    "OLDEST",
    "ROW",
    "START",
    "Table",
    "at",
    "empty_table",
    "enter",
    "find",
    "grow_table",
    "insert",
    "insert_delayed",
    "is_delayed",
    "lacks_room",
    "look_ahead",
    "occur",
    "retire",
    "sweep",
]


START, END, ROW, OLDER = range(4)
KEY, CHAINED, HEADS = range(3)
OLDEST, NEXT, NEWEST_START, LONGEST, LAST_ROWS, BASE, MASK = range(7)
NONE = 0
FIRST_MOMENT, LONGEST_SPAN = -(2**63), 2**63 - 1
_SMALLEST = 256


class Table(NamedTuple):
    """Occurrences and entries, one row each; kernels take its arrays one by one."""

    partitions: Int32s
    """The first entry of each."""
    entries: Int64s
    """Key, next of its partition, newest occurrence by stream. The first row says how many entries there are."""
    occurrences: Int64s
    """Start, end, row, next older of its key."""
    streams: Int64s
    """Oldest and next number, newest start, longest window, how many rows are live if they count, ring."""
    chosen: Int64s
    """Room for the rows of one product, stream by stream, after where those of each stream begin."""


def empty_table(last_rows: Int64s) -> Table:
    """A table for as many streams as there are ``last_rows``: how many arrivals are live, or 0 if time says so."""
    streams = np.ones((last_rows.size, 7), np.int64)
    streams[:, NEWEST_START], streams[:, LONGEST], streams[:, LAST_ROWS] = FIRST_MOMENT, 0, last_rows
    streams[:, BASE], streams[:, MASK] = np.arange(last_rows.size) * _SMALLEST, _SMALLEST - 1
    return Table(
        partitions=np.full(_SMALLEST, NONE, np.int32),
        entries=np.zeros((_SMALLEST, HEADS + last_rows.size), np.int64),
        occurrences=np.empty((_SMALLEST * last_rows.size, 4), np.int64),
        streams=streams,
        chosen=np.empty(1 + (2 + _SMALLEST) * last_rows.size, np.int64),
    )


def grow_table(table: Table, coming: Int32s) -> Table:
    """The same table with room for the next tuple: in its stream's ring if that is full, or else for an entry.

    ``coming`` are the streams of the tuples that are taken in next: rings get room for all of them at once.
    """
    held = table.streams[:, NEXT] - table.streams[:, OLDEST]
    if held[coming[0]] <= table.streams[coming[0], MASK]:
        return _with_room_for_entries(table, coming.size)
    wanted = held + np.bincount(coming, minlength=held.size)
    counted = table.streams[:, LAST_ROWS]
    return _with_larger_rings(table, np.where(counted > 0, np.minimum(wanted, counted + 1), wanted))


def _with_larger_rings(table: Table, wanted: Int64s) -> Table:
    streams = table.streams.copy()
    sizes = np.maximum(streams[:, MASK] + 1, [1 << (count - 1).bit_length() for count in wanted.tolist()])
    streams[:, MASK], streams[:, BASE] = sizes - 1, np.cumsum(sizes) - sizes
    occurrences = np.empty((int(sizes.sum()), 4), np.int64)
    _move(table.occurrences, table.streams, occurrences, streams)
    chosen = np.empty(1 + 2 * len(streams) + len(occurrences), np.int64)
    return table._replace(occurrences=occurrences, streams=streams, chosen=chosen)


def _with_room_for_entries(table: Table, coming: int) -> Table:
    """Without the entries that have ended, half of the room is free; more if many tuples come."""
    live = _live_entries(table.entries, table.streams)
    capacity = 1 << max(2 * live + 1, min(4 * live, live + coming), _SMALLEST - 1).bit_length()
    partitions, entries = np.full(capacity, NONE, np.int32), np.zeros((capacity, table.entries.shape[1]), np.int64)
    _rechain(table.entries, table.streams, partitions, entries)
    return table._replace(partitions=partitions, entries=entries)


@kernel
def _move(occurrences, streams, larger, larger_streams):
    """Copy the live occurrences of each stream into another ring."""
    for stream in range(streams.shape[0]):
        for number in range(streams[stream, OLDEST], streams[stream, NEXT]):
            larger[at(larger_streams, stream, number)] = occurrences[at(streams, stream, number)]


@kernel
def _live_entries(entries, streams):
    """How many entries have an occurrence that is live."""
    count = 0
    for entry in range(1, 1 + entries[NONE, CHAINED]):
        if _is_live(entries, streams, entry):
            count += 1
    return count


@kernel
def _rechain(entries, streams, partitions, larger):
    """Enter what is live into an empty table."""
    for entry in range(1, 1 + entries[NONE, CHAINED]):
        if _is_live(entries, streams, entry):
            here = enter(partitions, larger, entries[entry, KEY])
            for column in range(HEADS, entries.shape[1]):
                larger[here, column] = entries[entry, column]


@kernel
def _is_live(entries, streams, entry):
    live = False
    for stream in range(streams.shape[0]):
        live |= entries[entry, HEADS + stream] >= streams[stream, OLDEST]
    return live


@kernel
def _partition(partitions, key):
    return np.int64(hash_of(key) & np.uint64(partitions.size - 1))


@kernel
def find(partitions, entries, key):
    """The entry of a key, if there is one."""
    return _of_key(entries, np.int64(partitions[_partition(partitions, key)]), key)


@kernel
def _of_key(entries, entry, key):
    """The entry of a key from an entry of its partition on."""
    while entry != NONE and entries[entry, KEY] != key:
        entry = entries[entry, CHAINED]
    return entry


@kernel
def look_ahead(partitions, entries, keys, row, found):
    """Find the entries of the next few tuples together: their memory accesses overlap, and cost about as one."""
    count = min(found.size, keys.size - row)
    for ahead in range(count):
        found[ahead] = partitions[_partition(partitions, keys[row + ahead])]
        prefetch(entries, found[ahead])
    for ahead in range(count):
        found[ahead] = _of_key(entries, found[ahead], keys[row + ahead])
    return row + found.size


@kernel
def lacks_room(entries, streams, entry, stream):
    """Whether a tuple of the stream cannot be taken in."""
    full = streams[stream, NEXT] - streams[stream, OLDEST] > streams[stream, MASK]
    return full | ((entry == NONE) & (entries[NONE, CHAINED] + 1 == entries.shape[0]))


@kernel
def enter(partitions, entries, key):
    """A new entry, at the head of its partition."""
    partition = _partition(partitions, key)
    entry = entries[NONE, CHAINED] + 1
    entries[NONE, CHAINED] = entry
    entries[entry, KEY] = key
    entries[entry, CHAINED] = partitions[partition]
    partitions[partition] = entry
    return entry


@kernel
def at(streams, stream, number):
    """The row of ``occurrences`` that holds a stream's occurrence of a number."""
    return streams[stream, BASE] + (number & streams[stream, MASK])


@kernel
def occur(occurrences, here, start, end, row):
    """Write down an occurrence that is in no list as yet."""
    occurrences[here, START] = start
    occurrences[here, END] = end
    occurrences[here, ROW] = row
    occurrences[here, OLDER] = NONE


@kernel
def is_delayed(occurrences, streams, stream, here):
    """Whether a stream's next occurrence does not belong at the head of its list."""
    return (occurrences[here, START] < streams[stream, NEWEST_START]) & (streams[stream, LAST_ROWS] == 0)


@kernel
def insert(entries, occurrences, streams, entry, stream, here):
    """Put a stream's next occurrence at the head of the list of its key."""
    occurrences[here, OLDER] = entries[entry, HEADS + stream]
    entries[entry, HEADS + stream] = streams[stream, NEXT]
    _count_in(occurrences, streams, stream, here)


@kernel
def insert_delayed(entries, occurrences, streams, entry, stream, here):
    """Put a stream's next occurrence into the list of its key, in order of event time."""
    newer, older = np.int64(NONE), entries[entry, HEADS + stream]
    while older >= streams[stream, OLDEST] and (
        occurrences[at(streams, stream, older), START] > occurrences[here, START]
    ):
        newer, older = older, occurrences[at(streams, stream, older), OLDER]
    occurrences[here, OLDER] = older
    if newer == NONE:
        entries[entry, HEADS + stream] = streams[stream, NEXT]
    else:
        occurrences[at(streams, stream, newer), OLDER] = streams[stream, NEXT]
    _count_in(occurrences, streams, stream, here)


@kernel
def _count_in(occurrences, streams, stream, here):
    """Let a stream know of its next occurrence. No difference may overflow: what then happens is undefined."""
    start, end = occurrences[here, START], occurrences[here, END]
    measured = streams[stream, LAST_ROWS] == 0 and (start >= 0 or end < start + LONGEST_SPAN)
    streams[stream, LONGEST] = max(end - start if measured else LONGEST_SPAN, streams[stream, LONGEST])
    streams[stream, NEWEST_START] = max(start, streams[stream, NEWEST_START])
    streams[stream, NEXT] += 1


@kernel
def retire(occurrences, streams, stream, row):
    """Forget what a row that arrives pushes out of its stream's window, where rows are counted."""
    oldest = streams[stream, OLDEST]
    while oldest < streams[stream, NEXT] and (
        occurrences[at(streams, stream, oldest), ROW] <= row - streams[stream, LAST_ROWS]
    ):
        oldest += 1
    streams[stream, OLDEST] = oldest


@kernel
def sweep(occurrences, streams, watermark):
    """Forget what has ended, stream by stream, the first to arrive first."""
    for stream in range(streams.shape[0]):
        oldest = streams[stream, OLDEST]
        while oldest < streams[stream, NEXT] and occurrences[at(streams, stream, oldest), END] < watermark:
            oldest += 1
        streams[stream, OLDEST] = oldest
