from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skerry.errors import KernelError, LimitError
from skerry.model.time import END_OF_TIME
from skerry.operators.joins.amjoin import AMJoin
from skerry.operators.joins.arrivals import Arrivals
from skerry.operators.joins.mjoin import MJoin
from skerry.operators.joins.tree import SymmetricHashTree, XJoinTree
from tests.kernels.tuples import arrivals, columns, rows
from tests.oracles import rivals
from tests.oracles.rivals import Arrival

RIVALS = [SymmetricHashTree, XJoinTree, MJoin, AMJoin]
techniques = pytest.mark.parametrize("technique", RIVALS)


def give(join, tuples):
    return rows(join.arrive(Arrivals(*columns(tuples))))


@st.composite
def long_runs(draw):
    """Tuples that come again and again, each round later than the one before, but not in order."""
    stream_count, tuples = draw(arrivals(moments=st.integers(0, 9), spans=st.integers(0, 12)))
    step = draw(st.integers(3, 12))
    again = [(turn, each) for turn in range(8) for each in tuples]
    return stream_count, [
        each._replace(start=each.start + turn * step, end=each.end + turn * step, row=row)
        for row, (turn, each) in enumerate(again)
    ]


@techniques
@given(drawn=arrivals(), cut=st.integers(0, 25))
def test_technique_agrees_with_nested_loops(technique, drawn, cut):
    stream_count, tuples = drawn
    join = technique(stream_count, 10**6)
    assert sorted(give(join, tuples[:cut]) + give(join, tuples[cut:])) == rivals.complete(tuples, stream_count)


@techniques
@given(drawn=arrivals(max_size=40), cut=st.integers(0, 40))
def test_tuples_that_are_loaded_join_with_those_that_come_after(technique, drawn, cut):
    stream_count, tuples = drawn
    join = technique(stream_count, 10**6)
    join.load(Arrivals(*columns(tuples[:cut])))
    before = rivals.complete(tuples[:cut], stream_count)
    assert sorted(give(join, tuples[cut:]) + before) == rivals.complete(tuples, stream_count)


@techniques
@settings(max_examples=25)
@given(drawn=long_runs(), cuts=st.lists(st.integers(0, 200), max_size=8), early=st.integers(0, 5))
def test_sweeps_between_calls_change_nothing(technique, drawn, cuts, early):
    stream_count, tuples = drawn
    join, found = technique(stream_count, 10**6), []
    for first, last in zip([0, *sorted(cuts)], [*sorted(cuts), len(tuples)], strict=True):
        found += give(join, tuples[first:last])
        join.sweep(min((each.start for each in tuples[last:]), default=END_OF_TIME) - early)
    assert sorted(found) == rivals.complete(tuples, stream_count)


@techniques
@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_all_members_must_be_live_at_one_moment(technique, order):
    apart = [Arrival(0, 7, 0, 10, 0), Arrival(1, 7, 8, 20, 0), Arrival(2, 7, 11, 18, 0)]
    together = [*apart[:2], Arrival(2, 7, 10, 18, 0)]
    assert give(technique(3, 10), [apart[stream] for stream in order]) == []
    assert give(technique(3, 10), [together[stream] for stream in order]) == [(0, 0, 0)]


@techniques
def test_state_stays_bounded(technique):
    join = technique(3, 10**6)
    for step in range(0, 60_000, 300):
        tuples = [Arrival(row % 3, row // 3 % 50, row, row + 300, row) for row in range(step, step + 300)]
        give(join, tuples)
        join.sweep(step + 299)
        assert join.live_count <= 3000


@techniques
def test_long_window_does_not_hold_up_a_short_one(technique):
    join = technique(2, 10**6)
    for step in range(0, 10_000, 100):
        give(
            join, [Arrival(0, step, step, 10**9, step), *(Arrival(1, at, at, at, at) for at in range(step, step + 100))]
        )
        join.sweep(step + 100)
    assert join.live_count <= 600


@techniques
def test_as_many_combinations_as_allowed_are_given(technique):
    tuples = [Arrival(row % 2, 7, row, row + 100, row) for row in range(20)]
    assert len(give(technique(2, 100), tuples)) == 100
    with pytest.raises(LimitError, match="a join gives at least 100 combinations at once, the limit is 99"):
        give(technique(2, 99), tuples)


@techniques
def test_hot_key_beyond_the_limit_fails_before_it_is_spelled_out(technique):
    every = np.arange(100_000)
    hot = Arrivals((every % 5).astype(np.int32), np.zeros_like(every), every, every + 10**6, every)
    with pytest.raises(LimitError, match="the limit is 100000"):
        technique(5, 100_000).arrive(hot)


@techniques
def test_limit_counts_anew_with_each_call(technique):
    join = technique(2, 10)
    for row in range(10):
        give(join, [Arrival(0, 7, row, 100, row)])
    for row in range(10):
        assert len(give(join, [Arrival(1, 7, 10 + row, 100, row)])) == 10


@techniques
def test_state_of_any_size_can_be_loaded(technique):
    join = technique(3, 10)
    join.load(Arrivals(*columns([Arrival(row % 2, 7, row, 100, row) for row in range(20)])))
    with pytest.raises(LimitError):
        give(join, [Arrival(2, 7, 20, 100, 0)])


@techniques
def test_many_streams_join(technique):
    tuples = [Arrival(stream, 7, stream, 200, stream) for stream in range(100)]
    assert give(technique(100, 1000), tuples) == [tuple(range(100))]


@techniques
def test_single_stream_gives_back_what_comes(technique):
    assert give(technique(1, 10), [Arrival(0, 7, 3, 3, 0), Arrival(0, 7, 1, 1, 1)]) == [(0,), (1,)]


@techniques
def test_nothing_gives_nothing(technique):
    assert technique(3, 10).arrive(Arrivals(*columns([]))).shape == (0, 3)


@techniques
def test_tuple_that_is_never_live_joins_nothing(technique):
    assert give(technique(2, 10), [Arrival(0, 7, 0, 9, 0), Arrival(1, 7, 5, 4, 0)]) == []


@techniques
def test_unknown_stream_is_refused(technique):
    with pytest.raises(KernelError, match="tables lie in"):
        give(technique(2, 10), [Arrival(2, 7, 0, 9, 0)])


@techniques
def test_arrivals_that_are_read_only_are_taken(technique):
    given = Arrivals(*columns([Arrival(0, 7, 0, 9, 0), Arrival(1, 7, 0, 9, 0)]))
    given.keys.flags.writeable = False
    assert rows(technique(2, 10).arrive(given)) == [(0, 0)]
