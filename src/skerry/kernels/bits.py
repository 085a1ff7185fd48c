"""Bitmaps: bits counted by the machine's own instructions, and rows of them AND-ed."""

import os

import numpy as np

from skerry.kernels._jit import kernel

__all__ = ["FULL", "lowest_bit", "meet", "ones"]

FULL = np.uint64(2**64 - 1)

if os.environ.get("NUMBA_DISABLE_JIT", "0") != "0":

    def lowest_bit(word):
        """The position of the lowest bit that is set, or 64."""
        return (int(word) & -int(word)).bit_length() - 1 if word else 64

    def ones(word):
        """How many bits are set."""
        return int(word).bit_count()

else:
    from numba import types
    from numba.extending import intrinsic

    @intrinsic
    def lowest_bit(typing, word):
        """The position of the lowest bit that is set, or 64."""

        def generate(context, builder, signature, arguments):
            return builder.cttz(arguments[0], context.get_constant(types.boolean, False))

        return types.int64(types.uint64), generate

    @intrinsic
    def ones(typing, word):
        """How many bits are set."""

        def generate(context, builder, signature, arguments):
            return builder.ctpop(arguments[0])

        return types.int64(types.uint64), generate


@kernel
def _and_first(found, one, two, three, four):
    for word in range(found.size):
        found[word] = one[word] & two[word] & three[word] & four[word]


@kernel
def _and_more(found, one, two, three, four):
    for word in range(found.size):
        found[word] &= one[word] & two[word] & three[word] & four[word]


@kernel
def meet(bits, cells, row, found):
    """AND, over all axes, the row of bits of the cell that a point is in; four axes at a time."""
    last = bits.shape[0] - 1
    for axis in range(0, last + 1, 4):
        two, three, four = min(axis + 1, last), min(axis + 2, last), min(axis + 3, last)
        rows = (bits[axis, cells[axis, row]], bits[two, cells[two, row]])
        more = (bits[three, cells[three, row]], bits[four, cells[four, row]])
        if axis == 0:
            _and_first(found, rows[0], rows[1], more[0], more[1])
        else:
            _and_more(found, rows[0], rows[1], more[0], more[1])
