import pytest
from hypothesis import given
from hypothesis import strategies as st

from skerry.errors import LimitError
from skerry.kernels.joins.amjoin import absences, no_vectors
from skerry.kernels.joins.mjoin import Probing, mjoin
from tests.kernels.tuples import arrivals, packed, rows
from tests.oracles import rivals
from tests.oracles.rivals import Arrival


def join(tuples, stream_count, limit=10**6):
    return rows(mjoin(Probing.of(stream_count, no_vectors()), packed(tuples, stream_count), limit))


@given(arrivals())
def test_join_agrees_with_nested_loops(drawn):
    stream_count, tuples = drawn
    assert join(tuples, stream_count) == rivals.complete(tuples, stream_count)


@given(arrivals(), st.integers(0, 25))
def test_join_with_vectors_agrees_with_nested_loops(drawn, expected):
    stream_count, tuples = drawn
    state = Probing.of(stream_count, no_vectors())
    state.vectors = absences(state.chains, expected)
    assert rows(mjoin(state, packed(tuples, stream_count), 10**6)) == rivals.complete(tuples, stream_count)


def test_tables_are_probed_in_order_of_selectivity():
    state = Probing.of(3, no_vectors())
    often = [Arrival(row % 2, 7, row, row + 9, row) for row in range(50)]
    mjoin(state, packed([*often, Arrival(2, 7, 50, 50, 0)], 3), 10**6)
    assert (state.order[0], state.rates[2]) == (2, 0)
    assert state.rates[state.order].tolist() == sorted(state.rates)


def test_results_that_outgrow_the_first_room_are_all_given():
    tuples = [Arrival(row % 3, 7, row, row + 10**6, row) for row in range(150)]
    assert len(join(tuples, 3)) == 50**3


def test_hot_key_beyond_the_limit_fails_before_it_is_spelled_out():
    tuples = [Arrival(row % 5, 7, row, row + 10**6, row) for row in range(5000)]
    with pytest.raises(LimitError, match=r"a join gives at least 1[0-9]{4} combinations at once, the limit is 10000"):
        join(tuples, 5, limit=10_000)


def test_partial_results_of_a_tuple_have_the_same_limit():
    state = Probing.of(4, no_vectors())
    state.rates[3] = 1.0
    tuples = [Arrival(3, 7, 60, 99, 0), *(Arrival(row % 2, 7, 0, 40, row) for row in range(400))]
    assert mjoin(state, packed(tuples, 4), 1000).size == 0
    with pytest.raises(LimitError, match="the limit is 1000"):
        mjoin(state, packed([Arrival(2, 7, 0, 99, 0)], 4), 1000)
