"""Arrays found by their address in memory, so that one kernel reaches any number of tables."""

import ctypes
import os
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import make_array, populate_array

__all__ = ["address_of", "array_at"]


def address_of(array: npt.NDArray[Any]) -> int:
    """The address of an array; valid for as long as somebody holds the array."""
    address: int = array.__array_interface__["data"][0]
    return address


@intrinsic
def _array_at(typing, address, shape, dtype):
    """Numba's side of ``array_at``: no memory is made, and nobody counts who holds it."""
    kind = types.Array(dtype.dtype, shape.count, "C")

    def generate(context, builder, signature, arguments):
        array = make_array(kind)(context, builder)
        lengths = cgutils.unpack_tuple(builder, arguments[1], shape.count)
        size = context.get_constant(types.intp, context.get_abi_sizeof(context.get_data_type(kind.dtype)))
        strides = [size]
        for length in reversed(lengths[1:]):
            strides.insert(0, builder.mul(strides[0], length))
        data = builder.inttoptr(arguments[0], context.get_data_type(kind.dtype).as_pointer())
        populate_array(array, data=data, shape=lengths, strides=strides, itemsize=size, meminfo=None)
        return array._getvalue()

    return kind(types.int64, types.UniTuple(types.int64, shape.count), dtype), generate


def _interpreted_array_at(address: int, shape: tuple[int, ...], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    return np.ndarray(shape, dtype, memoryview((ctypes.c_char * size).from_address(int(address))))


array_at: Any = _interpreted_array_at if os.environ.get("NUMBA_DISABLE_JIT", "0") != "0" else _array_at
"""The array of a shape and type at an address."""
