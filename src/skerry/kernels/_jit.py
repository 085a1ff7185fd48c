"""The one place that says how kernels are compiled."""

from collections.abc import Callable
from typing import Any, TypeVar

from numba import njit

__all__ = ["kernel"]

Function = TypeVar("Function", bound=Callable[..., Any])


def kernel(function: Function) -> Function:
    """Compile on first use, keep the machine code on disk, let go of the interpreter lock.

    Never with ``fastmath``: NaN means something here, and sums must not be reordered.
    """
    compiled: Function = njit(cache=True, nogil=True)(function)
    return compiled
