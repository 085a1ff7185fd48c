from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skerry.errors import KernelError
from skerry.kernels.joins.gather import Answers, Arrivals, GatherTable
from tests.kernels.columns import any_integer
from tests.oracles.gather import Answer, Reading, gather, gather_early

SENSORS = 4
ORDERS = [30, -10, 20, 0]
"""Where each sensor stands; the oracle knows sensors by that."""

keys = st.sampled_from([0, 1, -(2**63), 2**63 - 1]) | any_integer
readings = st.lists(st.builds(Reading, keys, st.sampled_from(ORDERS), st.integers(-20, 20)), max_size=40)
crowds = st.lists(st.builds(Reading, st.just(7), st.sampled_from(ORDERS), st.integers(0, 9)), max_size=40)
cuts = st.lists(st.integers(0, 40), max_size=3)
spans = st.integers(0, 40)
arities = st.integers(1, 4)


def make_table(span_us, block=4096):
    found = GatherTable(span_us, block)
    found.know_sensors(np.array(ORDERS))
    return found


def arrivals(rows):
    columns = [row.key for row in rows], [row.ts for row in rows], [ORDERS.index(row.sensor) for row in rows]
    return Arrivals(*(np.array(column, np.int64) for column in columns))


def by_order(rows):
    return sorted(rows, key=lambda row: (row.ts, row.sensor))


def parts(rows, cuts):
    edges = [0, *sorted(cuts), len(rows)]
    return [rows[start:stop] for start, stop in pairwise(edges)]


def spell_out(answers: Answers):
    members = list(zip([ORDERS[sensor] for sensor in answers.sensors], answers.times.tolist(), strict=True))
    found = []
    for index in range(answers.count):
        own, *others = members[answers.offsets[index] : answers.offsets[index + 1]]
        reading = Reading(answers.keys[index].item(), *own)
        found.append(Answer(reading, answers.arities[index].item(), (own, *others)))
    return found


@given(readings | crowds, cuts, spans, arities, st.integers(1, 9))
def test_answers_in_order_agree_with_comparing_all(rows, cuts, span_us, min_arity, block):
    rows, table = by_order(rows), make_table(span_us, block)
    found = [table.answer_in_order(arrivals(part), min_arity=min_arity) for part in parts(rows, cuts)]
    assert [answer for each in found for answer in spell_out(each)] == gather(rows, span_us, min_arity)


@given(readings | crowds, cuts, spans, arities, st.integers(1, 9))
def test_answers_on_arrival_agree_with_comparing_all(rows, cuts, span_us, min_arity, block):
    table = make_table(span_us, block)
    found = [table.answer_on_arrival(arrivals(part), min_arity=min_arity) for part in parts(rows, cuts)]
    assert sorted(answer for each in found for answer in spell_out(each)) == sorted(
        gather_early(rows, span_us, min_arity)
    )


@given(crowds, st.integers(0, 40), spans, st.integers(1, 9))
def test_remembered_tuples_are_members(rows, cut, span_us, block):
    known, new = rows[:cut], rows[cut:]
    table = make_table(span_us, block)
    table.remember(arrivals(known))
    expected = gather_early(rows, span_us, 1)[len(gather_early(known, span_us, 1)) :]
    assert sorted(spell_out(table.answer_on_arrival(arrivals(new), min_arity=1))) == sorted(expected)


@given(crowds, st.integers(0, 40), st.integers(0, 9), st.integers(1, 9))
def test_forgetting_what_is_out_of_reach_changes_nothing(rows, cut, span_us, block):
    known = rows[:cut]
    new = [row for row in rows[cut:] if row.ts >= max((each.ts for each in known), default=0)]
    table = make_table(span_us, block)
    table.answer_on_arrival(arrivals(known), min_arity=1)
    table.forget(max((each.ts for each in known), default=0) - span_us)
    expected = gather_early([*known, *new], span_us, 1)[len(gather_early(known, span_us, 1)) :]
    assert sorted(spell_out(table.answer_on_arrival(arrivals(new), min_arity=1))) == sorted(expected)


def test_table_holds_no_more_than_a_window_however_long_the_stream():
    table = make_table(span_us=10, block=16)
    for start in range(0, 2000, 50):
        rows = [Reading(time % 3, ORDERS[time % 4], time) for time in range(start, start + 50)]
        table.answer_in_order(arrivals(by_order(rows)), min_arity=1)
    assert (table.count, table.capacity) == (12, 32)


def test_table_becomes_smaller_when_a_burst_is_over():
    table = make_table(span_us=10, block=4)
    table.remember(arrivals([Reading(1, 0, 0)] * 500))
    assert table.capacity == 512
    for _ in range(4):
        table.forget(100)
    assert (table.count, table.capacity) == (0, 8)


def test_answers_outgrow_their_buffers():
    rows = [Reading(1, ORDERS[-index % 4], 0) for index in range(60)]
    found = make_table(span_us=0, block=1).answer_on_arrival(arrivals(rows), min_arity=1)
    assert spell_out(found)[:1] == gather(rows[:1], 0, 1)
    assert found.count == len(gather_early(rows, 0, 1)) > 8 * len(rows)


def test_keys_that_share_a_bucket_are_kept_apart():
    rows = [Reading(key, ORDERS[key % 2], 0) for key in range(64)]
    found = make_table(span_us=0, block=1).answer_in_order(arrivals(by_order(rows)), min_arity=2)
    assert found.count == 0


def test_no_arrivals_have_no_answers():
    assert make_table(0).answer_in_order(arrivals([]), min_arity=1).count == 0
    assert make_table(0).answer_on_arrival(arrivals([]), min_arity=1).count == 0


def test_columns_of_different_length_are_refused():
    with pytest.raises(KernelError, match="differ in length: 1 2 2"):
        make_table(0).remember(Arrivals(np.zeros(1, np.int64), np.zeros(2, np.int64), np.zeros(2, np.int64)))


@pytest.mark.parametrize("sensor", [-1, 4])
def test_unknown_sensor_is_refused(sensor):
    with pytest.raises(KernelError, match="from 0 to 3"):
        make_table(0).remember(Arrivals(np.zeros(1, np.int64), np.zeros(1, np.int64), np.array([sensor])))


def test_sensors_cannot_become_fewer():
    with pytest.raises(KernelError, match="got 1 for 4"):
        make_table(0).know_sensors(np.array([0]))
