"""Doubles as whole numbers in the same order, and back."""

from typing import Any

import numpy as np
import numpy.typing as npt

from skerry.kernels._jit import kernel
from skerry.model.arrays import Int64s

__all__ = ["GREATEST_DOUBLE", "bits_of_doubles", "encode_doubles"]


GREATEST_DOUBLE = 0x7FEF_FFFF_FFFF_FFFF
"""The code of the greatest double that is finite."""
_ALL_BUT_SIGN = 2**63 - 1
_INFINITY, _NAN = 0x7FF0 << 48, 0x7FF8 << 48


def encode_doubles(values: npt.NDArray[np.floating[Any]]) -> Int64s:
    """Their bits, those of negative ones turned around. Both zeros have one code, all NaN another, above all numbers.

    >>> encode_doubles(np.array([-0.0, 5e-324, -5e-324])).tolist()
    [0, 1, -2]
    """
    return _encode(np.ascontiguousarray(values, np.float64).view(np.int64))


@kernel
def _encode(bits):
    codes = np.empty(bits.size, np.int64)
    for row in range(bits.size):
        size = bits[row] & _ALL_BUT_SIGN
        code = bits[row] ^ ((bits[row] >> 63) & _ALL_BUT_SIGN)
        code = 0 if size == 0 else code
        codes[row] = _NAN if size > _INFINITY else code
    return codes


@kernel
def bits_of_doubles(codes):
    """The bits of the doubles that codes stand for."""
    bits = np.empty(codes.size, np.int64)
    for row in range(codes.size):
        bits[row] = codes[row] ^ ((codes[row] >> 63) & _ALL_BUT_SIGN)
    return bits
