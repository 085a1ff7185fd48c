"""SNJoin: the combinations that an arrival completes, from one hash table for all streams.

The paper chains all occurrences of a value in one list; here a value has a list per stream
(``kernels.joins.snjoin_table``), for an arrival reads those of the other streams alone, and on a hot key its
own may be the longest. A stream counts as present in an entry while the head of its list is live; only
if all others are (the paper's psi) a join is pursued.

Of the members of a combination one is the newest, by (start, stream). The combinations of an arrival
that share a newest member are a product: any tuple per stream that is live when the newest starts. So
they are found as products, without a dead branch, and spelled out afterwards.

Ali, Aref, Kamel: Multi-way Joins for Sensor-Network Databases, 2005, section 2.
"""

from typing import NamedTuple

import numpy as np

from skerry.errors import KernelError, LimitError
from skerry.kernels._jit import kernel
from skerry.kernels.joins.snjoin_table import (
    END,
    FIRST_MOMENT,
    HEADS,
    LAST_ROWS,
    LONGEST,
    LONGEST_SPAN,
    NEXT,
    NONE,
    OLDER,
    OLDEST,
    ROW,
    START,
    at,
    empty_table,
    enter,
    find,
    grow_table,
    insert,
    insert_delayed,
    is_delayed,
    lacks_room,
    look_ahead,
    occur,
    retire,
    sweep,
)
from skerry.model.arrays import Int32s, Int64s

__all__ = ["OccurrenceTable", "Tuples", "check_tuples"]


_MOST = 2**61
"""Combinations are counted up to here; twice as many still fit into a word."""
_AHEAD = 64
_FEW = 1024


class Tuples(NamedTuple):
    """Tuples of several streams, in the order in which they are to be taken. One that ends before it starts is none."""

    streams: Int32s
    keys: Int64s
    starts: Int64s
    ends: Int64s
    rows: Int64s


class OccurrenceTable:
    """The live tuples of ``stream_count`` streams, by key.

    ``last_rows`` says of each stream how many of its arrivals are live, or 0 if a tuple is live until its end.
    The tuples of one stream then must end in the order in which they start.

    >>> table = OccurrenceTable(2, last_rows=np.zeros(2, np.int64))
    >>> found = Tuples(np.array([0, 1]), np.array([7, 7]), np.array([1, 4]), np.array([11, 14]), np.array([0, 0]))
    >>> table.join(found, limit=10).tolist()
    [[0, 0]]
    """

    def __init__(self, stream_count: int, last_rows: Int64s) -> None:
        if last_rows.size != stream_count:
            raise KernelError("streams and their windows differ in number:", stream_count, last_rows.size)
        self._table = empty_table(last_rows)

    @property
    def count(self) -> int:
        """How many tuples it holds."""
        return int((self._table.streams[:, NEXT] - self._table.streams[:, OLDEST]).sum())

    @property
    def capacity(self) -> int:
        """How many tuples it has room for."""
        return int(self._table.occurrences.shape[0])

    def join(self, tuples: Tuples, limit: int) -> Int64s:
        """Take tuples in, give each combination that one of them completes: its rows, one per stream."""
        tuples, pieces, row, given, wanted = check_tuples(tuples, len(self._table.streams)), [], 0, 0, 0
        while row < tuples.keys.size:
            output = self._output(min(max(wanted, 2 * given, _FEW), limit - given))
            row, filled, wanted = _join(self._table, tuples, row, output, False)
            pieces.append(output[:, :filled])
            given += filled
            if given + wanted > limit:
                raise LimitError(f"a step gives {given + wanted} combinations of tuples or more, the limit is", limit)
            if row < tuples.keys.size and not wanted:
                self._table = grow_table(self._table, tuples.streams[row:])
        return np.concatenate(pieces or [self._output(0)], axis=1).T

    def load(self, tuples: Tuples) -> None:
        """Take tuples in that have been joined with each other already."""
        tuples, row = check_tuples(tuples, len(self._table.streams)), 0
        while (row := _join(self._table, tuples, row, self._output(0), True)[0]) < tuples.keys.size:
            self._table = grow_table(self._table, tuples.streams[row:])

    def sweep(self, watermark: int) -> None:
        """Forget the tuples that ended before ``watermark``."""
        sweep(self._table.occurrences, self._table.streams, watermark)

    def _output(self, size: int) -> Int64s:
        """Room for so many combinations, stream by stream."""
        return np.empty((self._table.streams.shape[0], size), np.int64)


def check_tuples(tuples: Tuples, stream_count: int) -> Tuples:
    """Refuse what is no column of tuples; give the others in the types that kernels are compiled for."""
    if len({column.size for column in tuples}) > 1:
        raise KernelError("columns of tuples differ in length:", *(column.size for column in tuples))
    streams, *others = (np.ascontiguousarray(column) for column in tuples)
    if streams.size and not 0 <= streams.min() <= streams.max() < stream_count:
        raise KernelError("a tuple is of no stream; there are", stream_count)
    return Tuples(streams.astype(np.int32, copy=False), *(column.astype(np.int64, copy=False) for column in others))


@kernel
def _join(table, tuples, row, output, quiet):
    """Take tuples in from a row on, until all are or there is no room, in the table or for what is written.

    Gives the row reached, how many combinations are written, and how many the tuple of that row has.
    """
    partitions, entries, occurrences, streams, chosen = table
    arriving, keys, starts, ends, rows = tuples
    filled, known, found = 0, row, np.empty(_AHEAD, np.int64)
    while row < keys.size:
        stream = arriving[row]
        if row == known:
            known = look_ahead(partitions, entries, keys, row, found)
        if starts[row] <= ends[row]:
            entry = found[row - known + _AHEAD]
            if entry == NONE:
                entry = find(partitions, entries, keys[row])
            if lacks_room(entries, streams, entry, stream):
                return row, filled, 0
            if entry == NONE:
                entry = enter(partitions, entries, keys[row])
            here = at(streams, stream, streams[stream, NEXT])
            occur(occurrences, here, starts[row], ends[row], rows[row])
            if not quiet and _is_elsewhere(entries, streams, entry, stream):
                total = _combine(entries, occurrences, streams, entry, stream, here, chosen, output, filled)
                if total > output.shape[1] - filled:
                    return row, filled, total
                filled += total
            if is_delayed(occurrences, streams, stream, here):
                insert_delayed(entries, occurrences, streams, entry, stream, here)
            else:
                insert(entries, occurrences, streams, entry, stream, here)
        if streams[stream, LAST_ROWS] > 0:
            retire(occurrences, streams, stream, rows[row])
        row += 1
    return row, filled, 0


@kernel
def _is_elsewhere(entries, streams, entry, own):
    """Whether all other streams have the key."""
    stream = 0
    while stream < streams.shape[0] and (stream == own or entries[entry, HEADS + stream] >= streams[stream, OLDEST]):
        stream += 1
    return stream == streams.shape[0]


@kernel
def _combine(entries, occurrences, streams, entry, own, arrival, chosen, output, filled):
    """How many combinations a stream's next occurrence has. They are written as far as they fit."""
    total = 0
    if not _is_live_elsewhere(entries, occurrences, streams, entry, own, arrival):
        return total
    for stream in range(streams.shape[0]):
        number = streams[own, NEXT] if stream == own else entries[entry, HEADS + stream]
        newest = at(streams, stream, number)
        while number >= streams[stream, OLDEST] and (
            streams[stream, LAST_ROWS] > 0 or not _before(occurrences, newest, stream, arrival, own)
        ):
            if occurrences[newest, START] <= occurrences[arrival, END] and (
                not _before(occurrences, newest, stream, arrival, own)
            ):
                more = _choose(entries, occurrences, streams, entry, own, arrival, stream, newest, chosen)
                _write(chosen, output, filled + total, more)
                total = min(total + more, _MOST)
            number = occurrences[newest, OLDER]
            newest = at(streams, stream, number)
    return total


@kernel
def _is_live_elsewhere(entries, occurrences, streams, entry, own, arrival):
    """Whether no other stream's newest occurrence has ended when an arrival starts."""
    live = True
    for stream in range(streams.shape[0]):
        end = occurrences[at(streams, stream, entries[entry, HEADS + stream]), END]
        live &= (stream == own) | (streams[stream, LAST_ROWS] > 0) | (end >= occurrences[arrival, START])
    return live


@kernel
def _before(occurrences, one, one_stream, other, other_stream):
    """Whether one is older than the other. None are equal, for they are of different streams."""
    start, other_start = occurrences[one, START], occurrences[other, START]
    return (start < other_start) | ((start == other_start) & (one_stream < other_stream))


@kernel
def _choose(entries, occurrences, streams, entry, own, arrival, newest_stream, newest, chosen):
    """Choose the rows that combine with an arrival and a newest member, which it may be itself; give how many ways."""
    total, position, stream = 1, streams.shape[0] + 1, 0
    while total > 0 and stream < streams.shape[0]:
        chosen[stream] = position
        if stream == own:
            chosen[position] = occurrences[arrival, ROW]
            position += 1
        elif stream == newest_stream:
            chosen[position] = occurrences[newest, ROW]
            position += 1
        else:
            position = _choose_older(
                entries, occurrences, streams, entry, stream, newest, newest_stream, chosen, position
            )
        size = position - chosen[stream]
        total = total * size if float(total) * size < _MOST else _MOST
        stream += 1
    chosen[stream] = position
    return total


@kernel
def _choose_older(entries, occurrences, streams, entry, stream, newest, newest_stream, chosen, position):
    """Choose the rows of one stream that are live when the newest member starts, and come before it."""
    moment = occurrences[newest, START]
    longest = streams[stream, LONGEST]
    edge = max(moment, FIRST_MOMENT + longest) - longest if longest < LONGEST_SPAN else FIRST_MOMENT
    number = entries[entry, HEADS + stream]
    here = at(streams, stream, number)
    while number >= streams[stream, OLDEST] and occurrences[here, START] >= edge:
        if _before(occurrences, here, stream, newest, newest_stream) and occurrences[here, END] >= moment:
            chosen[position] = occurrences[here, ROW]
            position += 1
        number = occurrences[here, OLDER]
        here = at(streams, stream, number)
    return position


@kernel
def _write(chosen, output, filled, total):
    """Spell out the product of what is chosen, the last stream changing fastest, if there is room."""
    fits = 0 < total <= output.shape[1] - filled
    repeats = 1
    for stream in range(output.shape[0] - 1 if fits else -1, -1, -1):
        column = filled
        while column < filled + total:
            for member in range(chosen[stream], chosen[stream + 1]):
                for _ in range(repeats):
                    output[stream, column] = chosen[member]
                    column += 1
        repeats *= chosen[stream + 1] - chosen[stream]
