"""MJoin: one table per stream, probed one after the other, the one that turns most tuples away first.

The results of a tuple are formed level by level: each level joins those of the level before with the
tuples of one stream more. The first table without a match ends it, and what was formed is lost.

Ali, Aref, Kamel: Multi-way Joins for Sensor-Network Databases, 2005, section 6, after Viglas,
Naughton, Burger: Maximizing the Output Rate of Multi-Way Join Queries, 2003.
"""

from dataclasses import dataclass

import numpy as np

from skerry.errors import LimitError
from skerry.kernels._jit import kernel
from skerry.kernels.hash import hash_of
from skerry.kernels.joins.amjoin import is_missing, note
from skerry.kernels.joins.chained_tables import (
    ENTRIES,
    Chains,
    Records,
    bucket_of,
    chain,
    empty_chains,
    has_room,
    make_room,
    seek,
)
from skerry.model.arrays import Float64s, Int64s, UInt64s

__all__ = ["Probing", "lengthen", "mjoin"]


_PARTIAL = np.dtype(
    [
        ("start", np.int64),
        ("end", np.int64),
        ("base", np.int32),  # the result of the level before that it extends; or -1
        ("entry", np.int32),  # what it adds
    ]
)
_FEW = 1024
_PROBES_REMEMBERED = 256.0


@dataclass
class Probing:
    """The state of an MJoin: tables, and the order in which they are probed."""

    chains: Chains
    order: Int64s
    rates: Float64s
    """A table's selectivity: how many of its last probes found a match."""
    vectors: UInt64s
    """Of an AMJoin, what is missing where."""

    @classmethod
    def of(cls, stream_count: int, vectors: UInt64s) -> "Probing":
        """Without tuples, and nothing measured."""
        return cls(empty_chains(stream_count), np.arange(stream_count), np.zeros(stream_count), vectors)


def mjoin(state: Probing, batch: Records, limit: int) -> Int64s:
    """Take tuples in, and give the rows of each combination that one of them completes, one column per stream.

    Raises ``LimitError`` at more than ``limit`` combinations, or partial results of one tuple and level.
    """
    blocks, row = [np.empty((0, state.order.size), np.int64)], 0
    probing, partials = (state.order, state.rates, state.vectors), np.empty(_FEW, _PARTIAL)
    while row < batch.size:
        row, begin, stop, block = _run(*state.chains, *probing, partials, batch, row, limit)
        blocks.append(block)
        given = max(sum(map(len, blocks)), stop - begin)
        if given > limit:
            raise LimitError("a join gives at least", given, "combinations at once, the limit is", limit)
        if stop > partials.size:
            partials = np.empty(2 * stop, _PARTIAL)
        state.chains = make_room(state.chains)
    return np.concatenate(blocks)


@kernel
def _run(pool, heads, tables, counters, order, rates, vectors, partials, batch, row, limit):
    """Take tuples from a row on, while there is room: the row reached, the last partial results, the answers.

    ``partials`` is room for the results of one tuple, level behind level; they are counted beyond it.
    """
    answers = np.empty((_FEW, order.size), np.int64)
    count, begin, stop = 0, 0, 0
    while row < batch.size and stop <= partials.size and has_room(pool, counters) and max(count, stop - begin) <= limit:
        own, key, start, end = batch[row]["table"], batch[row]["key"], batch[row]["start"], batch[row]["end"]
        hashed = hash_of(key)
        if vectors.shape[1]:
            note(vectors, hashed, own)
        begin, stop, index = 0, _begin(partials, counters[ENTRIES], start, end), 0
        if is_missing(vectors, hashed):
            begin = stop
        while index < order.size and begin < stop <= partials.size and stop - begin <= limit:
            table = order[index]
            if table != own:
                match = seek(pool, heads[bucket_of(tables, table, hashed)], key, start, end)
                rates[table] += ((1.0 if match >= 0 else 0.0) - rates[table]) / _PROBES_REMEMBERED
                size = stop
                if match >= 0:
                    size = _extend(pool, partials, begin, stop, match, limit)
                begin, stop = stop, size
            index += 1
        if index > 0:
            _sort(order, rates)
        if stop <= partials.size and stop - begin <= limit:
            pool[counters[ENTRIES]] = batch[row]
            chain(pool, heads, tables, counters, hashed)
            if stop > begin:
                answers = lengthen(answers, count + stop - begin)
                count = _answer(pool, partials, begin, stop, answers, count)
            row += 1
    return row, begin, stop, answers[:count]


@kernel
def _begin(partials, entry, start, end):
    """The result of level 0 is the tuple itself, which will be ``entry``; where it stops."""
    partials[0]["start"], partials[0]["end"] = start, end
    partials[0]["base"], partials[0]["entry"] = -1, entry
    return 1


@kernel
def _extend(pool, partials, begin, stop, match, limit):
    """Join the results of a level with a table's matches, ``match`` the first: where what comes out stops."""
    size = stop
    while match >= 0 and size - stop <= limit:
        for partial in range(begin, stop):
            start = max(partials[partial]["start"], pool[match]["start"])
            end = min(partials[partial]["end"], pool[match]["end"])
            if start <= end:
                if size < partials.size:
                    partials[size]["start"], partials[size]["end"] = start, end
                    partials[size]["base"], partials[size]["entry"] = partial, match
                size += 1
        match = seek(pool, pool[match]["next"], pool[match]["key"], partials[0]["start"], partials[0]["end"])
    return size


@kernel
def _sort(order, rates):
    """By insertion, for little changes between two tuples."""
    for position in range(1, order.size):
        table = order[position]
        while position > 0 and rates[order[position - 1]] > rates[table]:
            order[position] = order[position - 1]
            position -= 1
        order[position] = table


@kernel
def lengthen(answers, count):
    """The same answers, with room for ``count``."""
    if count > answers.shape[0]:
        more = np.empty((2 * count, answers.shape[1]), np.int64)
        more[: answers.shape[0]] = answers
        answers = more
    return answers


@kernel
def _answer(pool, partials, begin, stop, answers, count):
    """Write results as rows, one column per table: how many answers there are then."""
    for result in range(begin, stop):
        partial = result
        while partial >= 0:
            entry = partials[partial]["entry"]
            answers[count, pool[entry]["table"]] = pool[entry]["row"]
            partial = partials[partial]["base"]
        count += 1
    return count
