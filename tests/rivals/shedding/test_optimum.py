from itertools import combinations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from skerry.experiments.shedding.workload import Workload, generate
from skerry.kernels.joins.snjoin import Tuples
from skerry.rivals.shedding.optimum import Needs, find_needs, find_optimum
from tests.oracles.joins import Tuple
from tests.shedding.reference import BoundedJoin, Policy


class Foreseeing(Policy):
    """Spares the tuples of some keys as long as they are of use."""

    def __init__(self, kept: set[int], lasts: dict[int, int]) -> None:
        self._kept, self._lasts, self._now = kept, lasts, 0

    def admit(self, arrival, held):
        self._now = arrival.row

    def rank(self, candidate, held):
        return float(candidate.key in self._kept and self._lasts[candidate.key] > self._now + 1), 0


def arrivals(order: list[tuple[int, int]]) -> Tuples:
    """Tuples of streams and keys, one a moment, that do not end."""
    streams, keys = (np.array(column) for column in zip(*order, strict=True))
    rows = np.arange(len(order))
    return Tuples(streams.astype(np.int32), keys, rows, rows + 1000, rows)


def exact(need: Needs, memory: int) -> int:
    """The most values that fit, by trying all choices."""
    for count in range(need.count, 0, -1):
        if any(fits(need, memory - 1, list(choice)) for choice in combinations(range(need.count), count)):
            return count
    return 0


def fits(need: Needs, room: int, choice: list[int]) -> bool:
    for stream, size in enumerate(need.arrival_counts):
        moments = np.arange(size)[:, np.newaxis]
        there = (need.begins[choice, stream] <= moments) & (moments < need.ends[choice, stream])
        if there.sum(axis=1).max(initial=0) > room:
            return False
    return True


orders = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 6)), unique=True, min_size=12, max_size=21)


@given(order=orders, memory=st.integers(1, 4))
@settings(max_examples=100, deadline=None)
def test_choice_is_never_above_the_best(order, memory):
    need = find_needs(arrivals(order), 3)
    assert find_optimum(need, memory) <= exact(need, memory)


def test_choice_is_the_best_nearly_always():
    random, everyone = np.random.default_rng(1), [(stream, key) for stream in range(3) for key in range(7)]
    found, best = [], []
    for _ in range(100):
        need = find_needs(arrivals([everyone[index] for index in random.permutation(21)]), 3)
        found.append(find_optimum(need, memory=3))
        best.append(exact(need, memory=3))
    assert np.mean(np.array(found) == best) >= 0.9
    assert sum(found) >= 0.98 * sum(best)


@given(order=orders, memory=st.integers(1, 4))
@settings(max_examples=50, deadline=None)
def test_what_fits_is_what_a_shedder_that_knows_it_can_give(order, memory):
    tuples = [Tuple(stream, key, row, row + 1000, row) for row, (stream, key) in enumerate(order)]
    lasts = {key: row for row, (_, key) in enumerate(order)}
    whole = [key for key in range(7) if all((stream, key) in order for stream in range(3))]
    given_by = [
        BoundedJoin([memory] * 3, Foreseeing(set(choice), lasts)).count(tuples)
        for count in range(len(whole) + 1)
        for choice in combinations(whole, count)
    ]
    assert max(given_by) == exact(find_needs(arrivals(order), 3), memory)


def test_all_answers_fit_if_there_is_memory_enough():
    tuples = generate(Workload(tuple_count=2_000), 1)
    need = find_needs(tuples, 5)
    assert find_optimum(need, 2_000) == need.count == 200


def test_values_whose_first_tuple_ends_too_early_have_no_answer():
    assert find_needs(arrivals([(0, 1), (1, 1)])._replace(ends=np.array([0, 9])), 2).count == 0
