"""Tuples for bounded joins, drawn by Hypothesis, and bounded joins for them."""

from collections.abc import Sequence

import numpy as np
from hypothesis import strategies as st

from skerry.kernels.joins.snjoin import Tuples
from skerry.shedding.bounded_join import BoundedJoin
from tests.oracles.joins import Tuple


@st.composite
def arrivals(draw, max_streams=4, max_size=30):
    """Budgets by stream, and tuples: few keys and moments, so that they join, equal each other and come late."""
    windows = draw(st.lists(st.integers(0, 8), min_size=1, max_size=max_streams))
    budgets = [draw(st.integers(1, 4)) for _ in windows]
    one = st.tuples(st.integers(0, len(windows) - 1), st.integers(0, 3), st.integers(0, 2), st.sampled_from([0, 0, 3]))
    now, found = 0, []
    for row, (stream, key, step, delay) in enumerate(draw(st.lists(one, max_size=max_size))):
        now += step
        start = now - delay
        found.append(Tuple(stream, key, start, start + windows[stream], row))
    return budgets, found


def columns(tuples: Sequence[Tuple]) -> Tuples:
    """As a bounded join takes them."""
    fields = zip(*((each.stream, each.key, each.start, each.end, each.row) for each in tuples), strict=True)
    return Tuples(*(np.array(values, np.int64) for values in (list(fields) or [[]] * 5)))


def make_join(budgets: Sequence[int], policy: str, **options: float) -> BoundedJoin:
    """A bounded join without a sample, unless it is asked for."""
    settings = {"sample": 0.0, "span_us": 5, **options}
    return BoundedJoin(len(budgets), np.array(budgets, np.int64), policy, **settings)


def answers(join: BoundedJoin, tuples: Sequence[Tuple]) -> list[tuple[int, ...]]:
    """The rows of each answer, in order."""
    return sorted(map(tuple, join.join(columns(tuples), 10**6).tolist()))


def live(join: BoundedJoin) -> list[list[int]]:
    """The rows of each window."""
    return [join.live_rows(stream).tolist() for stream in range(len(join.balance().kept))]
