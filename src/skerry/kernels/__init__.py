"""Arrays in, arrays out: the only room that knows Numba."""

__all__ = ["COMPILATIONS"]

COMPILATIONS = "skerry.kernels.compilations"
"""The log that is told, at level INFO, of each kernel that is about to be compiled."""
