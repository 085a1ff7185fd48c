import numpy as np
import pytest
from hypothesis import given

from skerry.errors import LimitError
from skerry.model.time import Micros
from skerry.operators.joins.arrivals import Arrivals
from skerry.operators.joins.snjoin import SNJoin
from tests import oracles
from tests.kernels.joins.test_snjoin import arrivals, columns
from tests.oracles.joins import Tuple


def as_arrivals(tuples):
    found = columns(tuples)
    return Arrivals(found.streams.astype(np.int32), *found[1:])


@given(arrivals())
def test_answers_agree_with_nested_loops(drawn):
    stream_count, tuples = drawn
    found = SNJoin(stream_count, limit=10**6).arrive(as_arrivals(tuples))
    assert sorted(map(tuple, found.tolist())) == oracles.combinations(tuples, stream_count)


def test_what_is_loaded_is_joined_but_not_given():
    join = SNJoin(2, limit=10)
    join.load(as_arrivals([Tuple(0, 7, 0, 9, 3), Tuple(1, 7, 0, 9, 4)]))
    assert join.arrive(as_arrivals([Tuple(1, 7, 1, 10, 5)])).tolist() == [[3, 5]]


def test_last_rows_are_live_whatever_the_time():
    join = SNJoin(2, limit=10, counts=np.array([1, 0]))
    tuples = [Tuple(0, 7, 0, 10**9, 0), Tuple(0, 7, 1, 10**9, 1), Tuple(1, 7, 10**6, 10**6, 0)]
    assert join.arrive(as_arrivals(tuples)).tolist() == [[1, 0]]


def test_sweep_leaves_what_has_not_ended():
    join = SNJoin(2, limit=10)
    join.load(as_arrivals([Tuple(0, 7, 0, 4, 0), Tuple(0, 7, 1, 5, 1), Tuple(1, 7, 0, 9, 0)]))
    join.sweep(Micros(5))
    assert join.live_count == 2


def test_more_combinations_than_the_limit_are_refused():
    tuples = [Tuple(row % 2, 7, row, row + 9, row) for row in range(8)]
    with pytest.raises(LimitError, match="the limit is 15"):
        SNJoin(2, limit=15).arrive(as_arrivals(tuples))
