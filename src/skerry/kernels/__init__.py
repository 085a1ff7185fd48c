"""Arrays in, arrays out: the only room that knows Numba."""
