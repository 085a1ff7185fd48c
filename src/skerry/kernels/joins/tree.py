"""A left-deep tree of symmetric hash joins, each level one stream wider than the one below.

    a ──┐
        ├── a⋈b ──┐          A node keeps both its inputs in hash tables. What arrives at one is put
    b ──┘         ├── a⋈b⋈c  into its table, probes the other, and what comes out is handed up.
    c ────────────┘

A partial result is live while all its members are, so it is a tuple like others: it has the row of
its last member, and as its base the partial result that it extends. Tables may be split by hash into
partitions, each with buckets of its own, as XJoin's are.

Ali, Aref, Kamel: Multi-way Joins for Sensor-Network Databases, 2005, after Wilschut and Apers:
Pipelining in Query Execution, 1991, and Urhan and Franklin: XJoin, 2000.
"""

from dataclasses import dataclass

import numpy as np

from skerry.errors import LimitError
from skerry.kernels._jit import kernel
from skerry.kernels.hash import hash_of
from skerry.kernels.joins.chained_tables import (
    ENTRIES,
    FULL,
    Chains,
    Records,
    bucket_of,
    chain,
    empty_chains,
    has_room,
    make_room,
    seek,
    withdraw,
)
from skerry.kernels.joins.mjoin import lengthen
from skerry.model.arrays import Int64s

__all__ = ["Tree", "climb"]


_FEW = 1024


@dataclass
class Tree:
    """The state of a tree: a table for each stream, then one for the partial results of each level, all split."""

    chains: Chains
    stream_count: int
    partition_count: int

    @classmethod
    def of(cls, stream_count: int, partition_count: int) -> "Tree":
        """Without tuples. The number of partitions is a power of two."""
        return cls(empty_chains((2 * stream_count - 1) * partition_count), stream_count, partition_count)


def climb(tree: Tree, batch: Records, limit: int, levels: int) -> Int64s:
    """Hand tuples, whose tables are streams, up through so many levels; give what comes out at the root, as rows.

    With a level less than there are streams nothing comes out. Raises ``LimitError`` at more than
    ``limit`` answers or partial results.
    """
    blocks, row, before = [np.empty((0, tree.stream_count), np.int64)], 0, tree.chains.entry_count
    while row < batch.size:
        row, block = _run(*tree.chains, tree.stream_count, tree.partition_count, batch, row, limit, levels)
        blocks.append(block)
        _check(tree.chains, sum(map(len, blocks)), tree.chains.entry_count - before - row, limit)
        tree.chains = make_room(tree.chains)
    return np.concatenate(blocks)


def _check(chains: Chains, answers: int, partials: int, limit: int) -> None:
    """Refuse too many answers or partial results, also those of a tuple for which there was no room."""
    unkept = chains.pool.size - chains.entry_count if chains.counters[FULL] else 0
    if max(answers, partials, unkept) > limit:
        what = "combinations" if answers > limit else "combinations and partial results"
        raise LimitError("a join gives at least", max(answers, partials, unkept), what, "at once, the limit is", limit)


@kernel
def _run(pool, heads, tables, counters, streams, partitions, batch, row, limit, levels):
    """Take tuples from a row on, while there is room: the row reached, and the answers."""
    answers = np.empty((_FEW, streams), np.int64)
    count = 0
    while row < batch.size and counters[FULL] == 0 and has_room(pool, counters) and count <= limit:
        leaf, stream, hashed = counters[ENTRIES], batch[row]["table"], hash_of(batch[row]["key"])
        partition = np.int64((hashed >> np.uint64(40)) & np.uint64(partitions - 1))
        _put(pool, heads, tables, counters, batch, row, stream * partitions + partition, hashed)
        begin = leaf
        if 0 < stream < levels:
            begin = leaf + 1
            below = _level(stream - 1, streams) * partitions + partition
            target = _level(stream, streams) * partitions + partition
            _join(pool, heads, tables, counters, below, leaf, True, target, hashed)
        for level in range(stream + 1, levels):
            stop = counters[ENTRIES]
            target = _level(level, streams) * partitions + partition
            for partial in range(begin, stop):
                _join(pool, heads, tables, counters, level * partitions + partition, partial, False, target, hashed)
            begin = stop
        if counters[FULL]:
            withdraw(pool, heads, tables, counters, leaf)
        else:
            row += 1
            if levels == streams and begin < counters[ENTRIES]:
                answers = lengthen(answers, count + counters[ENTRIES] - begin)
                count = _answer(pool, begin, counters[ENTRIES], answers, count)
                withdraw(pool, heads, tables, counters, begin)
    return row, answers[:count]


@kernel
def _level(level, streams):
    """The table of a level's results; those of level 0 are the tuples of the first stream."""
    return streams - 1 + level if level > 0 else 0


@kernel
def _put(pool, heads, tables, counters, batch, row, table, hashed):
    pool[counters[ENTRIES]] = batch[row]
    pool[counters[ENTRIES]]["table"] = table
    chain(pool, heads, tables, counters, hashed)


@kernel
def _join(pool, heads, tables, counters, table, entry, is_right, target, hashed):
    """Join an entry, the right or the left input of its node, with a table; put what comes out into another."""
    key, start, end = pool[entry]["key"], pool[entry]["start"], pool[entry]["end"]
    match = seek(pool, heads[bucket_of(tables, table, hashed)], key, start, end)
    while match >= 0 and counters[ENTRIES] < pool.size:
        left, right = (match, entry) if is_right else (entry, match)
        made = counters[ENTRIES]
        pool[made] = pool[right]
        pool[made]["table"], pool[made]["base"] = target, left
        pool[made]["start"], pool[made]["end"] = max(start, pool[match]["start"]), min(end, pool[match]["end"])
        chain(pool, heads, tables, counters, hashed)
        match = seek(pool, pool[match]["next"], key, start, end)
    counters[FULL] |= match >= 0


@kernel
def _answer(pool, begin, stop, answers, count):
    """Write results as rows, one column per stream: how many answers there are then."""
    for result in range(begin, stop):
        entry = result
        for stream in range(answers.shape[1] - 1, -1, -1):
            answers[count, stream] = pool[entry]["row"]
            entry = pool[entry]["base"]
        count += 1
    return count
