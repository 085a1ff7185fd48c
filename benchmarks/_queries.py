"""W3: points and boxes for the query index, the same on every run: seed 7, drawn behind W1 and W2."""

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from _workloads import complete
from skerry.index.column_codes import Axis, encode_column
from skerry.kernels.index.grid import GREATEST, LEAST

POINTS = 10_000
ANSWERS = {"a 10k": 3_914_778, "a 100k": 38_694_214, "b 100k": 99_853, "b 1M": 997_965}
"""Pairs of a point and a box that it is in."""


class Workload(NamedTuple):
    """Points and boxes, row by row, as doubles; a box is open where it has an infinite end."""

    points: np.ndarray
    lows: np.ndarray
    highs: np.ndarray

    @property
    def codes(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Lows, highs and points as codes, axis by row."""
        lows, highs = _codes(self.lows), _codes(self.highs)
        lows[np.isinf(self.lows.T)], highs[np.isinf(self.highs.T)] = LEAST, GREATEST
        return lows, highs, _codes(self.points)

    @property
    def batch(self) -> pa.RecordBatch:
        """The points as readings."""
        return pa.record_batch({f"a{axis}": column.copy() for axis, column in enumerate(self.points.T)})


def _codes(values: np.ndarray) -> np.ndarray:
    return np.stack([encode_column(Axis(""), pa.array(column.copy())) for column in values.T])


def w3() -> dict[str, Workload]:
    """The four cases, by name."""
    random = np.random.default_rng(7)
    complete(random=random)
    random.exponential(1000.0, (2_000, 1_000))
    random.integers(0, 100_000, 2_000_000)
    points = random.random((POINTS, 4))
    found = {f"a {count // 1000}k": Workload(points, *_mixed(random, count, 4)) for count in (10_000, 100_000)}
    found["b 100k"] = Workload(points, *_selective(random, 100_000, 4))
    found["b 1M"] = Workload(points, *_selective(random, 1_000_000, 4))
    return found


def of_eight() -> dict[str, Workload]:
    """The same two kinds over eight attributes, and queries that name two of them."""
    random = np.random.default_rng(8)
    points = random.random((POINTS, 8))
    return {
        "a 100k, 8 attributes": Workload(points, *_mixed(random, 100_000, 8)),
        "b 100k, 8 attributes": Workload(points, *_selective(random, 100_000, 8)),
        "c 100k, 2 of 8 attributes": Workload(points, *_sparse(random, 100_000, 8)),
    }


def _mixed(random: np.random.Generator, count: int, axes: int) -> tuple[np.ndarray, np.ndarray]:
    """The paper's: each attribute bounded below, above, or both."""
    both = np.sort(random.random((count, axes, 2)), axis=2)
    kind, one = random.integers(0, 3, (count, axes)), random.random((count, axes))
    lows = np.where(kind == 0, -np.inf, np.where(kind == 1, one, both[..., 0]))
    return lows, np.where(kind == 0, one, np.where(kind == 1, np.inf, both[..., 1]))


def _selective(random: np.random.Generator, count: int, axes: int) -> tuple[np.ndarray, np.ndarray]:
    """An interval of a tenth on each attribute."""
    lows = random.random((count, axes)) * 0.9
    return lows, lows + 0.1


def _sparse(random: np.random.Generator, count: int, axes: int) -> tuple[np.ndarray, np.ndarray]:
    """An interval of a hundredth on each of two attributes."""
    lows = random.random((count, axes)) * 0.99
    named = np.argsort(random.random((count, axes)), axis=1) < 2
    return np.where(named, lows, -np.inf), np.where(named, lows + 0.01, np.inf)
