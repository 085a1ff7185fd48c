"""AMJoin's bit-vector hash table: for each hash value, the streams that hold no tuple of it.

A tuple whose value is missing in some stream joins nothing, so no table need be probed for it. A bit
stands for a stream, in words of 64, and is set where the stream has nothing: all words of a value are
zero if every stream may have it. Bits are cleared as tuples come and set again when tables are swept.

Kwon, Kim, Kim, Son: AMJoin: An Advanced Join Algorithm for Multiple Data Streams Using a Bit-Vector
Hash Table, 2009.
"""

import numpy as np

from skerry.kernels._jit import kernel
from skerry.kernels.hash import hash_of
from skerry.kernels.joins.chained_tables import ENTRIES, Chains, power_of_two
from skerry.model.arrays import UInt64s

__all__ = ["absences", "is_missing", "no_vectors", "note"]


_STREAMS_PER_WORD = 64


def no_vectors() -> UInt64s:
    """Vectors without bits: nothing is known to be missing anywhere."""
    return np.empty((1, 0), np.uint64)


def absences(chains: Chains, expected: int) -> UInt64s:
    """Vectors of the tuples in tables, one table per stream, with room for ``expected`` more."""
    streams = chains.tables.size
    values = int(power_of_two(np.array(2 * max(chains.entry_count + expected, 1))))
    words = [min(_STREAMS_PER_WORD, streams - first) for first in range(0, streams, _STREAMS_PER_WORD)]
    vectors = np.tile(np.array([2**bits - 1 for bits in words], np.uint64), (values, 1))
    _note_all(chains.pool, chains.counters, vectors)
    return vectors


@kernel
def note(vectors, hashed, stream):
    """Remember that a stream has a tuple of this hash."""
    value = np.int64(hashed & np.uint64(vectors.shape[0] - 1))
    vectors[value, stream >> 6] &= ~(np.uint64(1) << np.uint64(stream & 63))


@kernel
def is_missing(vectors, hashed):
    """Whether some stream has no tuple of this hash."""
    value = np.int64(hashed & np.uint64(vectors.shape[0] - 1))
    absent = np.uint64(0)
    for word in range(vectors.shape[1]):
        absent |= vectors[value, word]
    return absent != 0


@kernel
def _note_all(pool, counters, vectors):
    for entry in range(counters[ENTRIES]):
        note(vectors, hash_of(pool[entry]["key"]), pool[entry]["table"])
