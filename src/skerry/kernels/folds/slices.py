"""The slice of each moment, where slices reach from edge to edge of several rhythms."""

import numpy as np

from skerry.errors import KernelError
from skerry.kernels._jit import kernel
from skerry.kernels.folds.group import group
from skerry.model.arrays import Int64s

__all__ = ["find_slices"]


def find_slices(moments: Int64s, steps: Int64s, phases: Int64s) -> tuple[Int64s, Int64s]:
    """Number the slice of each moment from 0, and give where each slice starts.

    A slice starts at the last edge, ``phase + n * step``, of any rhythm. Costs little as long as moments are in order,
    and the rhythms for each moment that is in another slice than the two before it.

    >>> find_slices(np.array([0, 3, 5, 4, 7]), np.array([4, 6]), np.array([0, 0]))
    (array([0, 0, 1, 1, 2]), array([0, 4, 6]))
    """
    if steps.size == 0 or steps.size != phases.size or steps.min() <= 0:
        raise KernelError("slices need steps above zero, each with its phase, got", steps.tolist(), phases.tolist())
    changes, starts = _find_changes(moments, steps, phases)
    found = group(starts)
    return found.numbers[changes], starts[found.first]


@kernel
def _find_changes(moments, steps, phases):
    """By moment, the number of a change of slice; by change, where its slice starts. Slices may come again."""
    changes = np.empty(moments.size, np.int64)
    starts = np.empty(moments.size, np.int64)
    count = 0
    number, start, end = 0, 0, 0
    other_number, other_start, other_end = 0, 0, 0
    for row in range(moments.size):
        moment = moments[row]
        if moment < start or moment >= end:
            number, other_number = other_number, number
            start, other_start = other_start, start
            end, other_end = other_end, end
            if moment < start or moment >= end:
                number = count
                for rhythm in range(steps.size):
                    edge = (moment - phases[rhythm]) // steps[rhythm] * steps[rhythm] + phases[rhythm]
                    following = edge + steps[rhythm]
                    if rhythm == 0:
                        start, end = edge, following
                    start = max(start, edge)
                    end = min(end, following)
                starts[count] = start
                count += 1
        changes[row] = number
    return changes, starts[:count].copy()
