"""64 comparisons at once: which of 64 intervals a number lies in, as bits of a word."""

import os
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

__all__ = ["WIDTH", "strictly_within", "within"]

WIDTH = 64


def _compile(comparison: str) -> Any:
    """One vector instruction per end: 64 lows and 64 highs compared with one number, as unsigned."""

    @intrinsic
    def compare(typing, lows, highs, number):
        def generate(context, builder, signature, arguments):
            element = ir.IntType(signature.args[0].dtype.bitwidth)
            vector, index = ir.VectorType(element, WIDTH), ir.IntType(32)
            nothing = ir.Constant(vector, ir.Undefined)
            ends = []
            for kind, value in zip(signature.args[:2], arguments, strict=False):
                array = context.make_array(kind)(context, builder, value=value)
                ends.append(builder.load(builder.bitcast(array.data, vector.as_pointer()), align=element.width // 8))
            first = builder.insert_element(nothing, arguments[2], ir.Constant(index, 0))
            everywhere = ir.Constant(ir.VectorType(index, WIDTH), [0] * WIDTH)
            numbers = builder.shuffle_vector(first, nothing, everywhere)
            above = builder.icmp_unsigned(comparison, ends[0], numbers)
            below = builder.icmp_unsigned(comparison, numbers, ends[1])
            return builder.bitcast(builder.and_(above, below), ir.IntType(WIDTH))

        return types.uint64(lows, highs, lows.dtype), generate

    return compare


def _within(lows: Any, highs: Any, number: Any) -> np.uint64:
    word: np.uint64 = np.packbits((lows <= number) & (number <= highs), bitorder="little").view(np.uint64)[0]
    return word


def _strictly_within(lows: Any, highs: Any, number: Any) -> np.uint64:
    word: np.uint64 = np.packbits((lows < number) & (number < highs), bitorder="little").view(np.uint64)[0]
    return word


_INTERPRETED = os.environ.get("NUMBA_DISABLE_JIT", "0") != "0"

within: Any = _within if _INTERPRETED else _compile("<=")
"""Which intervals a number lies in, both ends with them. Ends are 64 unsigned numbers behind each other."""
strictly_within: Any = _strictly_within if _INTERPRETED else _compile("<")
"""Which intervals a number lies in, without their ends."""
