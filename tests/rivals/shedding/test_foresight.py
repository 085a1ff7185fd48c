import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from skerry.experiments.shedding.workload import Workload, generate
from skerry.kernels.joins.snjoin import Tuples
from skerry.rivals.shedding.foresight import count_with_foresight
from tests.oracles.joins import Tuple
from tests.shedding.reference import BoundedJoin, Policy

WINDOW = 12


class Foreseeing(Policy):
    """Knows all arrivals, and what a tuple would still give if nothing were shed."""

    def __init__(self, arrivals: list[Tuple], stream_count: int) -> None:
        whole = BoundedJoin([10**6] * stream_count, Policy())
        self._answers = [(each.row, answer) for each in arrivals for answer in whole.join([each])]
        self._now = 0

    def admit(self, arrival, held):
        self._now = arrival.row + 1

    def rank(self, candidate, held):
        later = sum(
            row >= self._now and row != candidate.row and answer[candidate.stream] == candidate.row
            for row, answer in self._answers
        )
        return later / (candidate.end - self._now + 1), candidate.key


@given(
    kinds=st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3)), min_size=1, max_size=50), memory=st.integers(1, 5)
)
@settings(max_examples=60, deadline=None)
def test_foresight_is_that_of_a_shedder_that_looks_ahead(kinds, memory):
    streams, keys = (np.array(column) for column in zip(*kinds, strict=True))
    rows = np.arange(len(kinds))
    tuples = Tuples(streams.astype(np.int32), keys, rows, rows + WINDOW, rows)
    plain = [Tuple(stream, key, row, row + WINDOW, row) for row, (stream, key) in enumerate(kinds)]
    twin = BoundedJoin([memory] * 3, Foreseeing(plain, 3))
    expected = 0.0
    for each in plain:
        twin.sweep(each.start)
        expected += twin.count([each])
    assert count_with_foresight(tuples, 3, memory, rounds=1) == expected


def test_what_was_kept_in_a_round_is_a_better_guess_than_all():
    tuples = generate(Workload(tuple_count=1_000, variance=35), 1)
    assert count_with_foresight(tuples, 5, 100, rounds=3) > count_with_foresight(tuples, 5, 100, rounds=1)


def test_nothing_is_lost_if_there_is_memory_enough():
    tuples = generate(Workload(stream_count=3, tuple_count=300, variance=25), 1)
    answers = [count_with_foresight(tuples, 3, memory) for memory in (30, 300, 3_000)]
    assert answers[0] < answers[1] == answers[2]
