"""For each tuple, the live tuples of other sensors with its key: the three ways that the SNJoin paper compares.

- One table per sensor, every one probed for every tuple, as in MJoin.
- A left-deep tree, one sensor per level: a tuple's partial result is handed up through all levels, whether
  or not a level adds to it. It is kept as lists, one per level, and written out at the root. What a level's
  left input holds is not stored once more: it is what the levels below it hold.
- One table for all sensors, with an entry per value, and behind it the list of the value's occurrences (SNJoin).

Tuples come in order of time, so that the newer of two is the one that came later.

Ali, Aref, Kamel: Multi-way Joins for Sensor-Network Databases, 2005, section 3.1.
"""

from typing import Any

import numpy as np

from skerry.errors import LimitError
from skerry.kernels._jit import kernel
from skerry.kernels.hash import hash_of
from skerry.kernels.joins.chained_tables import (
    CROWDED,
    ENTRIES,
    Chains,
    Records,
    bucket_of,
    chain,
    drop_ended,
    has_room,
    is_worth_sweeping,
    lay_out,
    make_room,
    seek,
)
from skerry.model.arrays import Int64s

__all__ = ["Lists", "climb_levels", "probe_tables", "sweep_occurrences", "walk_occurrences"]

Lists = tuple[Int64s, Int64s]
"""For each tuple where its list begins and ends, and the rows of all lists."""

_FEW = 1024


def probe_tables(chains: Chains, batch: Records, limit: int) -> tuple[Chains, Lists]:
    """Take tuples into the tables of their sensors; list for each the rows of those of others that it joins with."""
    return _run_all(_probe_tables, chains, batch, limit)


def climb_levels(chains: Chains, batch: Records, limit: int) -> tuple[Chains, Lists]:
    """The same through a tree whose levels are the tables, in their order."""
    return _run_all(_climb_levels, chains, batch, limit)


def walk_occurrences(chains: Chains, batch: Records, limit: int) -> tuple[Chains, Lists]:
    """The same with one table for all; a tuple's sensor is not the number of its table here."""
    return _run_all(_walk_occurrences, chains, batch, limit)


def sweep_occurrences(chains: Chains, watermark: int) -> Chains:
    """The one table without the occurrences that ended before ``watermark``, as soon as that pays."""
    if not is_worth_sweeping(chains):
        return chains
    count = drop_ended(chains, watermark)
    chains = lay_out(chains.pool, count, np.array([count]))
    chains.tables["size"] = 0
    _list_all(*chains)
    return chains


def _run_all(run: Any, chains: Chains, batch: Records, limit: int) -> tuple[Chains, Lists]:
    """Run over the batch; where it stops, make room."""
    offsets, blocks, row = np.zeros(batch.size + 1, np.int64), [np.empty(0, np.int64)], 0
    while row < batch.size:
        row, block = run(*chains, batch, row, offsets, limit)
        blocks.append(block)
        if offsets[row] > limit:
            raise LimitError("a join lists at least", int(offsets[row]), "rows at once, the limit is", limit)
        chains = make_room(chains)
    return chains, (offsets, np.concatenate(blocks))


@kernel
def _probe_tables(pool, heads, tables, counters, batch, row, offsets, limit):
    """Take tuples from a row on, while there is room: the row reached, and the rows listed."""
    rows = np.empty(_FEW, np.int64)
    first = offsets[row]
    while row < batch.size and has_room(pool, counters) and offsets[row] <= limit:
        key, start, hashed = batch[row]["key"], batch[row]["start"], hash_of(batch[row]["key"])
        size = offsets[row] - first
        for table in range(tables.size):
            match = seek(pool, heads[bucket_of(tables, table, hashed)], key, start, start)
            if match >= 0 and table != batch[row]["table"]:
                size = _list(pool, match, start, rows, size)
        if size > rows.size:
            rows = _grow(rows, size)
        else:
            pool[counters[ENTRIES]] = batch[row]
            chain(pool, heads, tables, counters, hashed)
            row += 1
            offsets[row] = first + size
    return row, rows[: offsets[row] - first]


@kernel
def _climb_levels(pool, heads, tables, counters, batch, row, offsets, limit):
    """As above. A tuple's partial result at a level is the one of the level below, and the first of a list."""
    rows, lists = np.empty(_FEW, np.int64), np.empty(tables.size, np.int32)
    first = offsets[row]
    while row < batch.size and has_room(pool, counters) and offsets[row] <= limit:
        key, start, hashed = batch[row]["key"], batch[row]["start"], hash_of(batch[row]["key"])
        size = offsets[row] - first
        for level in range(tables.size):
            lists[level] = seek(pool, heads[bucket_of(tables, level, hashed)], key, start, start)
        lists[batch[row]["table"]] = -1
        for level in range(tables.size):
            if lists[level] >= 0:
                size = _list(pool, lists[level], start, rows, size)
        if size > rows.size:
            rows = _grow(rows, size)
        else:
            pool[counters[ENTRIES]] = batch[row]
            chain(pool, heads, tables, counters, hashed)
            row += 1
            offsets[row] = first + size
    return row, rows[: offsets[row] - first]


@kernel
def _walk_occurrences(pool, heads, tables, counters, batch, row, offsets, limit):
    """As above."""
    rows = np.empty(_FEW, np.int64)
    first = offsets[row]
    while row < batch.size and has_room(pool, counters) and offsets[row] <= limit:
        hashed = hash_of(batch[row]["key"])
        size = _list_occurrences(pool, heads, tables, batch, row, hashed, rows, offsets[row] - first)
        if size > rows.size:
            rows = _grow(rows, size)
        else:
            entry = counters[ENTRIES]
            pool[entry] = batch[row]
            _occur(pool, heads, tables, entry, hashed)
            counters[ENTRIES] = entry + 1
            counters[CROWDED] |= tables[0]["size"] > tables[0]["mask"]
            row += 1
            offsets[row] = first + size
    return row, rows[: offsets[row] - first]


@kernel
def _list(pool, match, start, rows, size):
    """List a table's matches, ``match`` the first, as far as there is room: how many rows there are then."""
    while match >= 0:
        if size < rows.size:
            rows[size] = pool[match]["row"]
        size += 1
        match = seek(pool, pool[match]["next"], pool[match]["key"], start, start)
    return size


@kernel
def _list_occurrences(pool, heads, tables, batch, row, hashed, rows, size):
    """List the occurrences of a value by other sensors until the first that has ended: how many rows there are."""
    entry = heads[bucket_of(tables, 0, hashed)]
    while entry >= 0 and pool[entry]["key"] != batch[row]["key"]:
        entry = pool[entry]["next"]
    while entry >= 0 and pool[entry]["end"] >= batch[row]["start"]:
        if pool[entry]["table"] != batch[row]["table"]:
            if size < rows.size:
                rows[size] = pool[entry]["row"]
            size += 1
        entry = pool[entry]["base"]
    return size


@kernel
def _occur(pool, heads, tables, entry, hashed):
    """Put an entry before the older occurrences of its value, and first into the chain of values in their stead."""
    bucket = bucket_of(tables, 0, hashed)
    before, value = entry, heads[bucket]
    pool[entry]["next"] = value
    heads[bucket] = entry
    while value >= 0 and pool[value]["key"] != pool[entry]["key"]:
        before, value = value, pool[value]["next"]
    pool[entry]["base"] = value
    if value >= 0:
        pool[before]["next"] = pool[value]["next"]
    tables[0]["size"] += value < 0


@kernel
def _list_all(pool, heads, tables, counters):
    for entry in range(counters[ENTRIES]):
        _occur(pool, heads, tables, entry, hash_of(pool[entry]["key"]))


@kernel
def _grow(rows, size):
    more = np.empty(2 * size, np.int64)
    more[: rows.size] = rows
    return more
