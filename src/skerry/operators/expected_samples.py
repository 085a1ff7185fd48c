"""How many samples the sensors of a group should have sent in a window."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from skerry.model.arrays import Bools, Int64s
from skerry.operators.grouping import group_rows

__all__ = ["SampleRates", "number_groups", "sum_over_intervals"]


@dataclass(frozen=True)
class SampleRates:
    """How often sensors take samples: ``period_us`` for all, ``periods`` for those that differ.

    >>> SampleRates(1, {"b": 4}).count_due(pa.array(["a", "b"]), 10)
    (array([10,  2]), array([ True,  True]))
    """

    period_us: int | None
    periods: Mapping[str, int]

    def count_due(self, sensors: pa.Array, size_us: int) -> tuple[Int64s, Bools]:
        """How many samples each sensor takes in every window of a size, at the least; and whether that is known."""
        due = np.full(len(sensors), size_us // self.period_us if self.period_us else 0, np.int64)
        known = np.full(len(sensors), self.period_us is not None)
        if self.periods:
            names = pc.cast(sensors, pa.string())
            index = pc.index_in(names, pa.array(list(self.periods), pa.string())).fill_null(-1).to_numpy()
            counts = size_us // np.array(list(self.periods.values()), np.int64)
            due, known = np.where(index >= 0, counts[index], due), known | (index >= 0)
        return due, known


def sum_over_intervals(
    groups: Int64s, after: Int64s, until: Int64s, weights: Int64s, asked_groups: Int64s, moments: Int64s
) -> Int64s:
    """For each moment asked about, the weight of all intervals (after, until] of its group that hold it.

    >>> one, none = np.zeros(1, np.int64), np.zeros(2, np.int64)
    >>> sum_over_intervals(one, one, one + 5, one + 7, none, np.array([5, 6]))
    array([7, 0])
    """
    begun = _sum_before(groups, after, weights, asked_groups, moments)
    return begun - _sum_before(groups, until, weights, asked_groups, moments)


def _sum_before(groups: Int64s, times: Int64s, weights: Int64s, asked_groups: Int64s, moments: Int64s) -> Int64s:
    """The weight of what lies before each moment in its group."""
    _, ranks = np.unique(np.concatenate([times, moments]), return_inverse=True)
    width = ranks.size + 1
    codes = groups * width + ranks[: times.size]
    order = np.argsort(codes, kind="stable")
    codes, totals = codes[order], np.concatenate([[0], np.cumsum(weights[order])])
    until = np.searchsorted(codes, asked_groups * width + ranks[times.size :], side="left")
    return totals[until] - totals[np.searchsorted(codes, asked_groups * width, side="left")]


def number_groups(one: Sequence[pa.Array], other: Sequence[pa.Array], rows: int, more: int) -> tuple[Int64s, Int64s]:
    """Numbers for the groups of two relations, equal where their keys are."""
    both = [pa.concat_arrays(pair) for pair in zip(one, other, strict=True)]
    numbers = group_rows(both, rows + more).numbers
    return numbers[:rows], numbers[rows:]
