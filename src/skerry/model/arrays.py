"""Numpy arrays by what they hold: the words that kernels and operators are typed with."""

import numpy as np
import numpy.typing as npt

__all__ = ["Bools", "Float64s", "Int8s", "Int32s", "Int64s", "UInt8s", "UInt16s", "UInt64s"]

Bools = npt.NDArray[np.bool_]
UInt8s = npt.NDArray[np.uint8]
Float64s = npt.NDArray[np.float64]
Int8s = npt.NDArray[np.int8]
Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]
UInt16s = npt.NDArray[np.uint16]
UInt64s = npt.NDArray[np.uint64]
