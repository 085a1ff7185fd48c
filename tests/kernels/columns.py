"""Columns of numbers in groups, drawn by Hypothesis."""

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from skerry.kernels.folds.exact_sums import Totals

finite = st.floats(allow_nan=False, allow_infinity=False)
edges = st.sampled_from([0.0, -0.0, 5e-324, -5e-324, 1.7976931348623157e308, -1.7976931348623157e308])
any_double = st.floats() | edges
any_integer = st.integers(-(2**63), 2**63 - 1)


@dataclass(frozen=True)
class Column:
    """Values, which of them are valid, the group of each, and how many groups there are."""

    values: np.ndarray
    valid: np.ndarray
    numbers: np.ndarray
    count: int

    def of_group(self, number: int) -> list[float]:
        """The valid values of one group."""
        return self.values[self.valid & (self.numbers == number)].tolist()

    def cut(self, position: int) -> "tuple[Column, Column]":
        """The rows before a position, and the rows from it on."""
        parts = (slice(None, position), slice(position, None))
        first, second = (Column(self.values[p], self.valid[p], self.numbers[p], self.count) for p in parts)
        return first, second


@st.composite
def columns(draw, values=any_double, dtype=np.float64):
    """Up to 12 rows in up to 4 groups, some of which may be empty."""
    count = draw(st.integers(1, 4))
    rows = draw(st.lists(st.tuples(values, st.integers(0, 9).map(bool), st.integers(0, count - 1)), max_size=12))
    taken = list(zip(*rows, strict=True)) or [(), (), ()]
    return Column(np.array(taken[0], dtype), np.array(taken[1], bool), np.array(taken[2], np.int64), count)


def behind(first: Totals, second: Totals) -> Totals:
    """Two columns of totals as one."""
    offsets = np.concatenate([first.offsets, first.offsets[-1] + second.offsets[1:]])
    return Totals(offsets, np.concatenate([first.words, second.words]))


def same(left: float, right: float) -> bool:
    """Equal, or both NaN."""
    return left == right or (left != left and right != right)
