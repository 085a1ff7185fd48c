"""Slow, obvious twins of the kernels and operators: plain Python, or DuckDB over the whole input."""

from tests.oracles.ahead import mark_ahead
from tests.oracles.demand import admits
from tests.oracles.extremes import greatest, least
from tests.oracles.groups import group
from tests.oracles.hashes import hash_bytes, hash_integer, mix
from tests.oracles.joins import arriving_combinations, combinations
from tests.oracles.lateness import mark_late
from tests.oracles.sessions import number_sessions
from tests.oracles.sums import deviation, nearest, total
from tests.oracles.windows import aggregate_windows, window_starts

__all__ = [
    "admits",
    "aggregate_windows",
    "arriving_combinations",
    "combinations",
    "deviation",
    "greatest",
    "group",
    "hash_bytes",
    "hash_integer",
    "least",
    "mark_ahead",
    "mark_late",
    "mix",
    "nearest",
    "number_sessions",
    "total",
    "window_starts",
]
