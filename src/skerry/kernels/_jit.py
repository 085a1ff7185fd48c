"""How kernels are compiled: the one module that sets the options of Numba."""

import os
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numba import config, njit

from skerry.kernels._cache import KernelFiles

__all__ = ["kernel"]

_numba_settings: Any = config
_CACHE = "skerry.kernels._cache.KernelCache"
Function = TypeVar("Function", bound=Callable[..., Any])


def kernel(function: Function) -> Function:
    """Compile on first use, keep the machine code on disk, let go of the interpreter lock.

    Never with ``fastmath``: NaN means something here, and sums must not be reordered.
    """
    if (
        os.environ.get("NUMBA_DISABLE_JIT", "0") != "0"
    ):  # compiled integers wrap around in silence; let interpreted ones do so too
        wrapping: Function = np.errstate(all="ignore")(function)
        return wrapping
    before = _numba_settings.CACHE_LOCATOR_CLASSES
    _numba_settings.CACHE_LOCATOR_CLASSES = _CACHE  # for our kernels, not for those of others
    try:
        compiled: Any = njit(nogil=True)(function)
        compiled._cache = KernelFiles(function)
    finally:
        _numba_settings.CACHE_LOCATOR_CLASSES = before
    return compiled
