"""The paper's data and queries: values from 0 to 1 at random, and conjunctions of random conditions over them.

A condition bounds an attribute below, above, or on both sides, each as often, and an end belongs to it or not, each as
often. What the paper leaves open is settled so:

- Queries have conditions on all attributes, unless it is said on how many; on which is random.
- Data that is skewed lies, on every attribute, in a tenth of the domain: where a condition is true as often as on the
  whole domain, so that the number of answers stays about the same.
- A window-join query has conditions on all attributes of both streams, and one on the join attributes.
"""

from dataclasses import dataclass

import numpy as np

from skerry.kernels.index.grid import GREATEST, LEAST
from skerry.model.arrays import Float64s, Int64s
from skerry.rivals.window_joins.join_queries import COMPARISONS, JoinQueries

__all__ = ["Queries", "make_join_queries", "make_points", "make_queries", "quarter_codes"]


_CROWDED = (0.161, 0.261)
"""Around where x (1 - x) is 1/6, its mean over the domain: a condition is true with a chance of 1/3 + 2/3 x (1 - x)."""


@dataclass(frozen=True)
class Queries:
    """What a set of selection queries is like."""

    count: int
    attributes: int
    bounded: int
    """On how many attributes a query has a condition."""


def make_points(count: int, attributes: int, skew: float = 0.0, seed: int = 1) -> Int64s:
    """The codes of data elements, axis by element; ``skew`` is the share of them in the crowded tenth."""
    random = np.random.default_rng(seed)
    values, crowded = random.random((attributes, count)), random.random(count) < skew
    low, high = _CROWDED
    return _codes(np.where(crowded, low + (high - low) * values, values))


def make_queries(like: Queries, seed: int = 2) -> tuple[Int64s, Int64s]:
    """The lows and highs of queries, axis by query.

    >>> lows, highs = make_queries(Queries(count=3, attributes=4, bounded=2))
    >>> ((lows > LEAST) | (highs < GREATEST)).sum(axis=0).tolist()
    [2, 2, 2]
    """
    random, shape = np.random.default_rng(seed), (like.attributes, like.count)
    ends = np.sort(_codes(random.random((2, *shape))), axis=0)
    ends += random.integers(0, 2, ends.shape) * np.array([1, -1])[:, None, None]
    kind = random.integers(0, 3, shape)
    free = np.argsort(random.random(shape), axis=0) >= like.bounded
    one = _codes(random.random(shape))
    lows = np.where(free | (kind == 0), LEAST, np.where(kind == 1, one, ends[0]))
    return lows, np.where(free | (kind == 1), GREATEST, np.where(kind == 0, one, ends[1]))


def make_join_queries(count: int, attributes: int, window: int, seed: int = 3) -> JoinQueries:
    """Window-join queries over two streams of so many attributes each; all windows are the same."""
    lows, highs = make_queries(Queries(count, 2 * attributes, 2 * attributes), seed)
    kinds = np.random.default_rng(seed).integers(0, len(COMPARISONS), count)
    return JoinQueries(lows, highs, np.full((2, count), window), np.array(list(COMPARISONS.values()))[kinds].T.copy())


def quarter_codes() -> Int64s:
    """Where the paper cuts a join condition: into four parts."""
    return _codes(np.array([0.25, 0.5, 0.75]))


def _codes(values: Float64s) -> Int64s:
    """Doubles that are not negative have the order of their bits."""
    return values.view(np.int64)
