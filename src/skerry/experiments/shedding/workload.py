"""The paper's data generator: values that go through the streams in certain orders, or that repeat.

What the paper leaves open is settled so:

- In each stream, one tuple in ten is of a value that appears in all streams; whatever the skew.
- There is a list of orders, one in ten of them through all streams, the others through a few. A value takes one of them
  by Zipf's law, which ranks those through all streams and the others apart.
- A value takes a time of its own to go through its streams, any up to the longest, and appears at any moments in it.
- All streams have the same number of tuples: that which most values go through has no others, and the rest is filled up
  with values that no other stream has.
- A higher rate is the same data, faster. The longest time is the window at 10 tuples a second, so that every value that
  appears in all streams has an answer if nothing is shed.
"""

from dataclasses import dataclass
from itertools import permutations

import numpy as np
import numpy.typing as npt

from skerry.kernels.joins.snjoin import Tuples
from skerry.model.arrays import Float64s, Int64s
from skerry.model.time import MICROS

__all__ = ["WINDOW_US", "Workload", "generate", "select"]


WINDOW_US = 100 * MICROS["SECOND"]
_LONGEST = 1_000
"""Over how many tuples of a stream a value may be spread."""
_WHOLE = 0.1
"""Which part of a stream's tuples, and of the orders, is of values that appear in all streams."""
_MEAN = 100
_ABSENT = -1


@dataclass(frozen=True)
class Workload:
    """What a data set is like."""

    stream_count: int = 5
    tuple_count: int = 10_000
    """Per stream."""
    rate_hz: float = 10.0
    """Per stream."""
    alpha: float = 0.0
    """The skew of Zipf's law over orders; 0 is none."""
    variance: float = 0.0
    """If not 0, values do not go through streams: each tuple's is drawn by a normal law with this variance."""
    order_count: int = 10
    """How many orders there are in the list, if so many are possible."""
    drifts: bool = False
    """Whether values that begin in the second half have a list of their own."""


def generate(workload: Workload, seed: int) -> Tuples:
    """The tuples of all streams in order of time."""
    random = np.random.default_rng(seed)
    make = _draw_repeating if workload.variance else _draw_passing
    streams, keys, positions = make(workload, random)
    order = np.argsort(positions, kind="stable")
    starts = (positions[order] * (MICROS["SECOND"] / workload.rate_hz)).astype(np.int64)
    return Tuples(streams[order].astype(np.int32), keys[order], starts, starts + WINDOW_US, np.arange(starts.size))


def select(tuples: Tuples, which: slice | npt.NDArray[np.intp]) -> Tuples:
    """Some of the tuples."""
    streams, keys, rows = tuples.streams[which], tuples.keys[which], tuples.rows[which]
    return Tuples(streams, keys, tuples.starts[which], tuples.ends[which], rows)


def _draw_repeating(workload: Workload, random: np.random.Generator) -> tuple[Int64s, Int64s, Float64s]:
    """Streams, values and positions of tuples whose values repeat.

    A position is how many tuples of the stream came before.
    """
    count = workload.stream_count * workload.tuple_count
    streams = np.repeat(np.arange(workload.stream_count), workload.tuple_count)
    keys = np.rint(random.normal(_MEAN, workload.variance**0.5, count)).astype(np.int64)
    return streams, keys, random.random(count) * workload.tuple_count


def _draw_passing(workload: Workload, random: np.random.Generator) -> tuple[Int64s, Int64s, Float64s]:
    """The same for values that go through the streams once, each in its order."""
    begins = random.random(workload.stream_count * workload.tuple_count) * workload.tuple_count
    lists = [_choose_orders(workload, random) for _ in range(1 + workload.drifts)]
    drawn = [_draw_orders(orders, workload, begins.size, random) for orders in lists]
    late = workload.drifts & (begins >= workload.tuple_count / 2)
    orders = _fill_up(np.where(late[:, np.newaxis], drawn[-1], drawn[0]), workload.tuple_count)
    spans = random.random((orders.shape[0], 1)) * _LONGEST
    positions = begins[: orders.shape[0], np.newaxis] + spans * _draw_moments(orders, random)
    there = orders != _ABSENT
    keys = np.broadcast_to(np.arange(orders.shape[0])[:, np.newaxis], orders.shape)
    return orders[there], keys[there], positions[there]


def _choose_orders(workload: Workload, random: np.random.Generator) -> tuple[Int64s, Int64s]:
    """The orders through all streams that are in the list, and the others, each ranked: a row an order."""
    whole = max(1, round(workload.order_count * _WHOLE))
    everywhere, elsewhere = (random.permutation(_list_orders(workload.stream_count, each)) for each in (True, False))
    return everywhere[:whole], elsewhere[: max(1, workload.order_count - whole)]


def _list_orders(stream_count: int, whole: bool) -> Int64s:
    """All orders through all streams, or all through fewer.

    >>> _list_orders(2, whole=True).tolist(), _list_orders(2, whole=False).tolist()
    ([[0, 1], [1, 0]], [[0, -1], [1, -1]])
    """
    lengths = [stream_count] if whole else range(1, stream_count)
    orders = [order for length in lengths for order in permutations(range(stream_count), length)]
    return np.array([order + (_ABSENT,) * (stream_count - len(order)) for order in orders], np.int64)


def _draw_orders(orders: tuple[Int64s, Int64s], workload: Workload, count: int, random: np.random.Generator) -> Int64s:
    """The orders of so many values; the first are those through all streams."""
    everywhere, elsewhere = (each[_draw_ranks(len(each), workload.alpha, count, random)] for each in orders)
    return np.where(np.arange(count)[:, np.newaxis] < _WHOLE * workload.tuple_count, everywhere, elsewhere)


def _draw_ranks(rank_count: int, alpha: float, count: int, random: np.random.Generator) -> Int64s:
    shares = np.arange(1.0, rank_count + 1) ** -alpha
    limits = np.cumsum(shares) / shares.sum()
    return np.minimum(np.searchsorted(limits, random.random(count), side="right"), rank_count - 1)


def _fill_up(orders: Int64s, tuple_count: int) -> Int64s:
    """The first orders, until a stream has all its tuples, and orders through one stream for what others lack.

    >>> _fill_up(np.array([[0, 1], [1, -1], [1, 0]]), 2).tolist()
    [[0, 1], [1, -1], [0, -1]]
    """
    stream_count = orders.shape[1]
    passed = (orders[:, :, np.newaxis] == np.arange(stream_count)).any(axis=1).cumsum(axis=0)
    kept = int(np.searchsorted(passed.max(axis=1), tuple_count, side="right"))
    lacking = tuple_count - passed[kept - 1]
    alone = np.full((int(lacking.sum()), stream_count), _ABSENT)
    alone[:, 0] = np.repeat(np.arange(stream_count), lacking)
    return np.concatenate([orders[:kept], alone])


def _draw_moments(orders: Int64s, random: np.random.Generator) -> Float64s:
    """When a value appears in each stream of its order, from 0 to 1, rising."""
    moments = np.where(orders == _ABSENT, 2.0, random.random(orders.shape))
    return np.sort(moments, axis=1)
