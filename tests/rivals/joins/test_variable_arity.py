from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skerry.errors import KernelError, LimitError
from skerry.model.time import END_OF_TIME
from skerry.rivals.joins.variable_arity import VariableArityMJoin, VariableAritySNJoin, VariableArityTree
from tests.kernels.tuples import LAST, any_key, any_moment, any_span, columns
from tests.oracles import rivals
from tests.oracles.rivals import Arrival

techniques = pytest.mark.parametrize("technique", [VariableArityMJoin, VariableArityTree, VariableAritySNJoin])


@st.composite
def draw_arrivals(draw, moments=any_moment, spans=any_span, max_size=30):
    """A window, and tuples in order of time."""
    span = draw(spans)
    drawn = draw(st.lists(st.tuples(st.integers(0, 8), any_key, moments), max_size=max_size))
    in_time = sorted(drawn, key=lambda each: each[2])
    return span, [
        Arrival(sensor, key, start, min(start + span, LAST), row) for row, (sensor, key, start) in enumerate(in_time)
    ]


def listen(join, tuples):
    sensors, keys, starts, _, rows = columns(tuples)
    offsets, found = join.arrive(sensors, keys, starts, rows)
    return [sorted(found[first:last].tolist()) for first, last in pairwise(offsets)]


@techniques
@given(drawn=draw_arrivals(), cut=st.integers(0, 30))
def test_technique_agrees_with_nested_loops(technique, drawn, cut):
    span, tuples = drawn
    join = technique(span, 10**6)
    assert listen(join, tuples[:cut]) + listen(join, tuples[cut:]) == rivals.lists(tuples)


@techniques
@settings(max_examples=25)
@given(
    drawn=draw_arrivals(moments=st.integers(0, 99), spans=st.integers(0, 20), max_size=200),
    cuts=st.lists(st.integers(0, 200), max_size=8),
)
def test_sweeps_between_calls_change_nothing(technique, drawn, cuts):
    span, tuples = drawn
    join, found = technique(span, 10**6), []
    for first, last in zip([0, *sorted(cuts)], [*sorted(cuts), len(tuples)], strict=True):
        found += listen(join, tuples[first:last])
        join.sweep(tuples[last].start if last < len(tuples) else END_OF_TIME)
    assert found == rivals.lists(tuples)


@techniques
def test_sensors_that_come_and_go_leave_nothing_behind(technique):
    join, before = technique(50, 10**6), []
    for step in range(0, 5000, 100):
        tuples = [Arrival(row // 100, row % 7, row, row + 50, row) for row in range(step, step + 100)]
        assert listen(join, tuples) == rivals.lists([*before, *tuples])[len(before) :]
        join.sweep(step + 99)
        before = tuples
    assert join.live_count <= 300


@techniques
def test_late_sensor_is_heard_among_others(technique):
    join = technique(10, 100)
    tuples = [Arrival(sensor, 7, at, at + 10, at) for at, sensor in enumerate([5, 9, 2, 7, 5])]
    assert listen(join, tuples[:2]) + listen(join, tuples[2:]) == rivals.lists(tuples)


@techniques
def test_limit_holds_for_a_call(technique):
    tuples = [Arrival(row, 7, row, row, row) for row in range(20)]
    assert sum(map(len, listen(technique(100, 190), tuples))) == 190
    with pytest.raises(LimitError, match="lists at least 190 rows at once, the limit is 189"):
        listen(technique(100, 189), tuples)


@techniques
def test_tuple_out_of_order_is_refused(technique):
    join = technique(10, 100)
    listen(join, [Arrival(0, 7, 5, 0, 0)])
    with pytest.raises(KernelError, match="in order of time, got one before 5"):
        listen(join, [Arrival(0, 7, 4, 0, 0)])
    with pytest.raises(KernelError, match="in order of time"):
        listen(join, [Arrival(0, 7, 9, 0, 0), Arrival(0, 7, 8, 0, 0)])


@techniques
def test_negative_sensor_is_refused(technique):
    with pytest.raises(KernelError, match="tables lie in"):
        listen(technique(10, 100), [Arrival(-1, 7, 0, 0, 0)])


@techniques
def test_nothing_gives_nothing(technique):
    offsets, rows = technique(10, 100).arrive(*(np.empty(0, np.int32), *(np.empty(0, np.int64) for _ in range(3))))
    assert (offsets.tolist(), rows.tolist()) == ([0], [])


@techniques
def test_sensor_whose_tuples_have_ended_is_heard_again_beside_a_new_one(technique):
    join = technique(10, 100)
    listen(join, [Arrival(0, 7, 0, 10, 0)])
    join.sweep(100)
    assert listen(join, [Arrival(0, 7, 200, 210, 1), Arrival(1, 7, 201, 211, 2)]) == [[], [1]]
    assert listen(join, [Arrival(2, 7, 205, 215, 3)]) == [[1, 2]]
