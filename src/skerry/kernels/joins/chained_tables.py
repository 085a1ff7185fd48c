"""Hash tables of tuples, side by side in one pool, each bucket a chain with the newest tuple first.

Tuples stand in the pool in order of arrival. None is taken out alone: when there are twice as many as
the last sweep left, those that have ended are dropped and the others chained anew, so that a tuple
costs a constant number of steps in its life. A crowded table moves to more buckets at the end.

    heads   │ table 0 │ table 1 │ table 2           │ more
                 │
    pool    0 1 2 3 4 5 6 7 ...       a chain: 6 → 3 → 0

The kernels named in ``__all__`` are for other kernels. They take the four arrays one by one, and no
loop in them is left by ``break`` or ``return``: otherwise Numba counts references at every call.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from skerry.errors import KernelError
from skerry.kernels._jit import kernel
from skerry.kernels.hash import hash_of
from skerry.model.arrays import Int32s, Int64s

__all__ = [
    "CROWDED",
    "ENTRIES",
    "FULL",
    "Chains",
    "Records",
    "bucket_of",
    "chain",
    "chain_all",
    "drop_ended",
    "empty_chains",
    "has_room",
    "insert_all",
    "is_worth_sweeping",
    "lay_out",
    "make_room",
    "pack_entries",
    "power_of_two",
    "seek",
    "sweep_chains",
    "with_tables",
    "withdraw",
]

Records = npt.NDArray[np.void]

_ENTRY = np.dtype(
    [
        ("table", np.int64),
        ("key", np.int64),
        ("start", np.int64),
        ("end", np.int64),  # the last moment at which it is live
        ("row", np.int64),
        ("next", np.int32),  # the next of its chain, older than it; or -1
        ("base", np.int32),  # an older entry that it builds on; or -1
    ]
)
_TABLE = np.dtype([("first", np.int64), ("mask", np.int64), ("size", np.int64)])

ENTRIES, BUCKETS, CROWDED, FULL, KEPT = range(5)
"""Counters: entries and buckets in use, whether a table or the pool needs room, entries the last sweep left."""

_FEWEST_BUCKETS = 16
_FEWEST_ENTRIES = 1024
_FEWEST_TO_SWEEP = 64


class Chains(NamedTuple):
    """Tables of tuples. Kernels change the arrays; to make room, they are replaced."""

    pool: Records
    heads: Int32s
    """A bucket's newest entry, or -1."""
    tables: Records
    """A table's first bucket, its number of buckets less one, which is a mask, and of entries."""
    counters: Int64s

    @property
    def entry_count(self) -> int:
        """How many tuples there are in all tables."""
        return int(self.counters[ENTRIES])


def pack_entries(tables: Int32s, keys: Int64s, starts: Int64s, ends: Int64s, rows: Int64s, table_count: int) -> Records:
    """Pack tuples for tables below ``table_count``. One that ends before it starts is never live, and left out.

    >>> pack_entries(np.array([1], np.int32), *(np.array([number]) for number in (7, 10, 20, 0)), 2)["end"].tolist()
    [20]
    """
    columns: list[npt.NDArray] = [tables, keys, starts, ends, rows]
    if len({column.size for column in columns}) > 1:
        raise KernelError("tuples have columns of different lengths:", *(column.size for column in columns))
    if tables.size and not 0 <= tables.min() <= tables.max() < table_count:
        raise KernelError("tables lie in", (0, table_count - 1), "but got", (int(tables.min()), int(tables.max())))
    live = starts <= ends
    packed = np.empty(np.count_nonzero(live), _ENTRY)
    for name, column in zip(("table", "key", "start", "end", "row"), columns, strict=True):
        packed[name] = column if packed.size == column.size else column[live]
    packed["base"] = -1
    return packed


def empty_chains(table_count: int) -> Chains:
    """Tables without tuples."""
    if table_count < 1:
        raise KernelError("there must be at least one table, got", table_count)
    return lay_out(np.empty(0, _ENTRY), 0, np.zeros(table_count, np.int64))


def insert_all(chains: Chains, batch: Records) -> Chains:
    """Put tuples into their tables.

    >>> one = pack_entries(np.zeros(1, np.int32), *(np.array([number]) for number in (7, 10, 20, 0)), 1)
    >>> insert_all(empty_chains(1), one).entry_count
    1
    """
    row = 0
    while row < batch.size:
        row = _insert_some(*chains, batch, row)
        chains = make_room(chains)
    return chains


def make_room(chains: Chains) -> Chains:
    """The same tables, with room in the pool if it was full, and more buckets for those that were crowded."""
    if chains.counters[FULL] or chains.entry_count == chains.pool.size:
        chains = chains._replace(pool=_resize(chains.pool, 2 * chains.pool.size))
    if chains.counters[CROWDED]:
        for table in np.flatnonzero(chains.tables["size"] > chains.tables["mask"]):
            buckets = 4 * (int(chains.tables["mask"][table]) + 1)
            chains = _with_buckets(chains, buckets)
            _move(*chains, table, buckets)
    chains.counters[[CROWDED, FULL]] = 0
    return chains


def with_tables(chains: Chains, count: int) -> Chains:
    """The same tables, and empty ones behind them, ``count`` in all."""
    new = np.zeros(count - chains.tables.size, _TABLE)
    new["first"] = chains.counters[BUCKETS] + _FEWEST_BUCKETS * np.arange(new.size)
    new["mask"] = _FEWEST_BUCKETS - 1
    chains = _with_buckets(chains, _FEWEST_BUCKETS * new.size)
    chains.counters[BUCKETS] += _FEWEST_BUCKETS * new.size
    return chains._replace(tables=np.concatenate([chains.tables, new]))


def sweep_chains(chains: Chains, watermark: int) -> Chains:
    """The tables without the tuples that ended before ``watermark``; as they are as long as that does not pay."""
    if not is_worth_sweeping(chains):
        return chains
    count = drop_ended(chains, watermark)
    sizes = np.bincount(chains.pool["table"][:count], minlength=chains.tables.size)
    return chain_all(lay_out(chains.pool, count, sizes))


def is_worth_sweeping(chains: Chains) -> bool:
    """Whether there are twice as many tuples as the last sweep left."""
    return bool(chains.entry_count > 2 * chains.counters[KEPT] + _FEWEST_TO_SWEEP)


def drop_ended(chains: Chains, watermark: int) -> int:
    """Leave in the pool, in order, the tuples that did not end before ``watermark``: how many. No chain holds then."""
    return int(_drop(chains.pool, chains.entry_count, watermark))


def lay_out(pool: Records, count: int, sizes: Int64s) -> Chains:
    """Tables with buckets for ``sizes`` entries each. The pool begins with ``count``, in no chain yet."""
    if not 2 * count < pool.size <= 8 * count + _FEWEST_ENTRIES:
        pool = _resize(pool[:count], 4 * count + _FEWEST_ENTRIES)
    buckets = power_of_two(np.maximum(4 * sizes, _FEWEST_BUCKETS))
    ends = np.cumsum(buckets)
    tables = np.empty(sizes.size, _TABLE)
    tables["first"], tables["mask"], tables["size"] = ends - buckets, buckets - 1, sizes
    return Chains(pool, np.full(int(ends[-1]), -1, np.int32), tables, np.array([count, ends[-1], 0, 0, count]))


def chain_all(chains: Chains) -> Chains:
    """Put all tuples of the pool into the chains of their tables."""
    _chain_all(*chains)
    return chains


def power_of_two(numbers: Int64s) -> Int64s:
    """The least powers of two that are not less.

    >>> power_of_two(np.array([1, 5, 16])).tolist()
    [1, 8, 16]
    """
    return 2 ** np.ceil(np.log2(numbers)).astype(np.int64)


def _resize(column: npt.NDArray, size: int) -> npt.NDArray:
    resized = np.empty(size, column.dtype)
    resized[: column.size] = column
    return resized


def _with_buckets(chains: Chains, count: int) -> Chains:
    """The same tables, with so many empty buckets behind those in use."""
    used = int(chains.counters[BUCKETS])
    if used + count > chains.heads.size:
        chains = chains._replace(heads=_resize(chains.heads, 2 * (used + count)))
    chains.heads[used : used + count] = -1
    return chains


@kernel
def bucket_of(tables, table, hashed):
    """Where in ``heads`` the chain of a hash begins."""
    return tables[table]["first"] + np.int64(hashed & np.uint64(tables[table]["mask"]))


@kernel
def has_room(pool, counters):
    """Whether a tuple can be put in."""
    return counters[ENTRIES] < pool.size and counters[CROWDED] == 0


@kernel
def chain(pool, heads, tables, counters, hashed):
    """Take the entry that was written behind the last into its table, as the newest of its chain."""
    entry = counters[ENTRIES]
    counters[ENTRIES] = entry + 1
    table = pool[entry]["table"]
    bucket = bucket_of(tables, table, hashed)
    pool[entry]["next"] = heads[bucket]
    heads[bucket] = entry
    tables[table]["size"] += 1
    counters[CROWDED] |= tables[table]["size"] > tables[table]["mask"]


@kernel
def withdraw(pool, heads, tables, counters, entry):
    """Take out the newest entries, down to ``entry``, as if they had never come."""
    for newest in range(counters[ENTRIES] - 1, entry - 1, -1):
        table = pool[newest]["table"]
        heads[bucket_of(tables, table, hash_of(pool[newest]["key"]))] = pool[newest]["next"]
        tables[table]["size"] -= 1
    counters[ENTRIES] = entry


@kernel
def seek(pool, entry, key, start, end):
    """From an entry on, the first of its chain that has this key and is live within [start, end]; or -1."""
    while entry >= 0 and not (
        pool[entry]["key"] == key and pool[entry]["start"] <= end and pool[entry]["end"] >= start
    ):
        entry = pool[entry]["next"]
    return entry


@kernel
def _insert_some(pool, heads, tables, counters, batch, row):
    while row < batch.size and has_room(pool, counters):
        pool[counters[ENTRIES]] = batch[row]
        chain(pool, heads, tables, counters, hash_of(batch[row]["key"]))
        row += 1
    return row


@kernel
def _chain_all(pool, heads, tables, counters):
    for entry in range(counters[ENTRIES]):
        bucket = bucket_of(tables, pool[entry]["table"], hash_of(pool[entry]["key"]))
        pool[entry]["next"] = heads[bucket]
        heads[bucket] = entry


@kernel
def _drop(pool, count, watermark):
    """Close the ranks of the entries that have not ended; how many there are."""
    positions = np.full(count, -1, np.int32)
    kept = 0
    for entry in range(count):
        if pool[entry]["end"] >= watermark:
            base = pool[entry]["base"]
            positions[entry] = kept
            pool[kept] = pool[entry]
            pool[kept]["base"] = positions[base] if base >= 0 else -1
            kept += 1
    return kept


@kernel
def _move(pool, heads, tables, counters, table, buckets):
    """Move a table into the empty buckets at the end, its chains in their order."""
    first = counters[BUCKETS]
    lasts = np.full(buckets, -1, np.int32)
    for old_bucket in range(tables[table]["first"], tables[table]["first"] + tables[table]["mask"] + 1):
        entry = heads[old_bucket]
        while entry >= 0:
            bucket = np.int64(hash_of(pool[entry]["key"]) & np.uint64(buckets - 1))
            if lasts[bucket] < 0:
                heads[first + bucket] = entry
            else:
                pool[lasts[bucket]]["next"] = entry
            lasts[bucket] = entry
            older = pool[entry]["next"]
            pool[entry]["next"] = -1
            entry = older
    counters[BUCKETS] += buckets
    tables[table]["first"] = first
    tables[table]["mask"] = buckets - 1
