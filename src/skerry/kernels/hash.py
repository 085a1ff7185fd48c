"""Hashes of values that are the same in every process and on every machine.

State is kept by these hashes, so they must never change between versions.
"""

import numpy as np
import numpy.typing as npt

from skerry.kernels._jit import kernel
from skerry.model.arrays import Int64s, UInt8s, UInt64s

__all__ = ["hash_bytes", "hash_integers", "hash_of", "mix"]


def hash_integers(values: Int64s) -> UInt64s:
    """Scramble 64-bit integers (the finaliser of splitmix64)."""
    return _finalise(values.astype(np.int64, copy=False))


def hash_bytes(offsets: npt.NDArray[np.integer], data: UInt8s) -> UInt64s:
    """Hash the byte strings ``data[offsets[i]:offsets[i + 1]]`` (FNV-1a, then scrambled)."""
    return _fnv(offsets.astype(np.int64, copy=False), data)


def mix(left: UInt64s, right: UInt64s) -> UInt64s:
    """Combine the hashes of two columns, order mattering."""
    return _finalise((left * np.uint64(31) + right).view(np.int64))


@kernel
def _finalise(values):
    hashes = np.empty(values.size, np.uint64)
    for row in range(values.size):
        bits = np.uint64(values[row]) + np.uint64(0x9E3779B97F4A7C15)
        bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        hashes[row] = bits ^ (bits >> np.uint64(31))
    return hashes


@kernel
def _fnv(offsets, data):
    hashes = np.empty(offsets.size - 1, np.uint64)
    for row in range(offsets.size - 1):
        bits = np.uint64(0xCBF29CE484222325)
        for position in range(offsets[row], offsets[row + 1]):
            bits = (bits ^ np.uint64(data[position])) * np.uint64(0x100000001B3)
        hashes[row] = bits ^ (bits >> np.uint64(29))
    return hashes


@kernel
def hash_of(key):
    """Scramble a key for a table in memory. Buckets use another hash, or all keys of a bucket would share some bits."""
    mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93)
    return mixed ^ (mixed >> np.uint64(32))
