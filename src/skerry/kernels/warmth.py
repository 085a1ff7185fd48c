"""Compile all kernels ahead of use, so that Spark's workers find the machine code on disk."""

import numpy as np

from skerry.kernels.deviation import deviations, squares
from skerry.kernels.exact import add_totals, add_values, as_doubles
from skerry.kernels.fold import greatest, least
from skerry.kernels.group import group
from skerry.kernels.hash import hash_bytes, hash_integers
from skerry.kernels.lateness import late_in_order
from skerry.kernels.panes import pane_numbers

__all__ = ["warm"]


def warm() -> None:
    """Call every kernel once with each kind of array it meets. Costs seconds the first time, then nothing."""
    numbers, valid = np.zeros(2, np.int64), np.ones(2, np.bool_)
    doubles = np.ones(2, np.float64)
    for codes in (numbers, np.array([0, 2**60])):
        group(codes)
    for values in (numbers, doubles):
        least(values, valid, numbers, 1)
        greatest(values, valid, numbers, 1)
    totals = add_totals(add_values(doubles, valid, numbers, 2), numbers, 1)
    as_doubles(totals)
    squares(doubles)
    deviations(totals, totals, np.ones(1, np.int64), sample=True)
    hash_integers(numbers)
    hash_bytes(np.zeros(2, np.int64), np.zeros(1, np.uint8))
    late_in_order(numbers, 0, 0)
    pane_numbers(numbers, 1)
