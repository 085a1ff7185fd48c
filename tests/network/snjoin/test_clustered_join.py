from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skerry.errors import InputError
from skerry.kernels.joins.gather import Arrivals, GatherTable
from skerry.network.message import Kind
from skerry.network.radio import RadioSettings
from skerry.network.snjoin.clustered_join import ClusteredJoin, make_topology
from skerry.network.snjoin.probers import ProbeRelevant
from skerry.network.snjoin.relevance import RelevanceSettings
from skerry.network.snjoin.settings import JoinSettings
from skerry.network.snjoin.wire import count_note_bytes, count_probe_bytes, count_tuple_bytes
from tests.oracles.gather import Reading, gather

SPAN = 50_000
SETTINGS = JoinSettings(window_us=SPAN, settle_us=30_000, patience_us=10_000_000)
relevant = partial(ProbeRelevant, settings=RelevanceSettings(cells=4), seed=3)


@st.composite
def clusterings(draw):
    """For each sensor its head."""
    size = draw(st.integers(1, 8))
    heads = sorted(draw(st.sets(st.integers(0, size - 1), min_size=1)))
    return [mote if mote in heads else draw(st.sampled_from(heads)) for mote in range(size)]


@st.composite
def fields_and_readings(draw):
    head_of = draw(clusterings())
    rows = st.tuples(st.integers(0, 150_000), st.integers(0, len(head_of) - 1), st.integers(0, 2))
    return head_of, sorted(draw(st.lists(rows, max_size=40)))


def found_by(outcome):
    """By (time, sensor, value) of each answer, all members in order: a list, so that doubles show."""
    return sorted(
        (answer.arrival.time, answer.arrival.sensor, answer.arrival.value, sorted(answer.members))
        for answer in outcome.answers
    )


def true_answers(readings, span=SPAN):
    given = gather([Reading(value, sensor, time) for time, sensor, value in readings], span, 1)
    return sorted((each.reading.ts, each.reading.sensor, each.reading.key, sorted(each.members[1:])) for each in given)


def make_readings(sensors, count, values=3, seed=5, gap_us=400):
    random = np.random.default_rng(seed)
    times = np.cumsum(random.integers(1, gap_us, count)).tolist()
    rows = zip(times, random.integers(0, sensors, count).tolist(), random.zipf(2, count).tolist(), strict=True)
    return [(time, sensor, value % values) for time, sensor, value in rows]


HEAD_OF = [0, 0, 0, 3, 3, 5, 5, 5, 8, 9]


@given(fields_and_readings())
@settings(max_examples=40)
def test_probing_all_heads_finds_what_nested_loops_find_each_once(drawn):
    head_of, readings = drawn
    assert found_by(ClusteredJoin(head_of, SETTINGS).run(readings)) == true_answers(readings)


@given(fields_and_readings(), st.floats(0, 3_000), st.integers(0, 100))
@settings(max_examples=30)
def test_slow_heads_that_keep_everything_find_the_same(drawn, operation_us, seed):
    head_of, readings = drawn
    slow = JoinSettings(SPAN, 30_000, 10_000_000, operation_us=operation_us)
    assert found_by(ClusteredJoin(head_of, slow, seed=seed).run(readings)) == true_answers(readings)


@given(fields_and_readings())
@settings(max_examples=30)
def test_feedback_gives_part_of_the_answers_and_nothing_else(drawn):
    head_of, readings = drawn
    answers = found_by(ClusteredJoin(head_of, SETTINGS, relevant).run(readings))
    for (*mine, members), (*true, all_members) in zip(answers, true_answers(readings), strict=True):
        assert mine == true
        assert not set(members) - set(all_members)
        assert len(set(members)) == len(members) or len(set(all_members)) < len(all_members)


def test_the_centralised_operator_finds_the_same():
    readings = make_readings(10, 400)
    table = GatherTable(SPAN)
    table.know_sensors(np.arange(10))
    times, sensors, values = (np.array(column) for column in zip(*sorted(readings), strict=True))
    centralised = table.answer_in_order(Arrivals(values, times, sensors), min_arity=1)
    outcome = ClusteredJoin(HEAD_OF, SETTINGS).run(readings)
    widths = [answer.width for answer in sorted(outcome.answers, key=lambda each: each.arrival[1:])]
    assert widths == centralised.arities.tolist()
    assert sum(len(answer.members) + 1 for answer in outcome.answers) == centralised.sensors.size


def test_lost_messages_lose_answers_and_make_none():
    readings = make_readings(10, 300)
    outcome = ClusteredJoin(HEAD_OF, SETTINGS, radio=RadioSettings(loss=0.1)).run(readings)
    true = {tuple(row[:3]): set(row[3]) for row in true_answers(readings)}
    assert 0 < len(outcome.answers) < 300
    assert all(set(members) <= true[(time, sensor, value)] for time, sensor, value, members in found_by(outcome))


def test_a_full_buffer_drops_tuples_and_refuses_probes_which_costs_answers():
    readings = make_readings(10, 300)
    small = JoinSettings(SPAN, 30_000, 10_000_000, buffer_size=3, operation_us=100)
    outcome = ClusteredJoin(HEAD_OF, small).run(readings)
    assert outcome.dropped > 0
    assert outcome.begun == 300 - outcome.dropped
    assert len(outcome.answers) == outcome.begun - outcome.refused
    true = {tuple(row[:3]): set(row[3]) for row in true_answers(readings)}
    assert all(set(members) <= true[(time, sensor, value)] for time, sensor, value, members in found_by(outcome))


def test_a_link_slower_than_the_settling_time_is_reported():
    readings = make_readings(10, 50)
    outcome = ClusteredJoin(HEAD_OF, JoinSettings(SPAN, settle_us=1_000)).run(readings)
    assert outcome.late == sum(HEAD_OF[sensor] != sensor for _, sensor, _ in readings)


def test_a_probe_that_comes_too_late_is_reported():
    readings = make_readings(10, 400)
    hurried = JoinSettings(SPAN, 30_000, patience_us=0, operation_us=100)
    assert ClusteredJoin(HEAD_OF, hurried).run(readings).stale > 0


def test_every_message_is_counted_with_its_bytes():
    readings = [(0, 1, 7), (1_000, 3, 7)]
    outcome = ClusteredJoin([0, 0, 2, 2], SETTINGS).run(readings)
    assert outcome.tally.by_kind == {Kind.STORAGE: 2, Kind.JOIN: 2, Kind.RESULT: 2}
    probes = 2 * count_probe_bytes(2, 0) + count_probe_bytes(2, 0) + count_probe_bytes(2, 1)
    assert sum(outcome.tally.bytes_by_mote) == 2 * count_tuple_bytes() + probes


def test_with_feedback_the_collector_sends_one_note_per_tuple():
    outcome = ClusteredJoin(HEAD_OF, SETTINGS, relevant).run(make_readings(10, 100))
    assert outcome.tally.by_kind[Kind.CONTROL] == 100
    assert outcome.tally.bytes_by_mote[10] >= 100 * count_note_bytes(0)


def test_the_same_seed_gives_the_same_run():
    readings = make_readings(10, 200)
    one, other = (ClusteredJoin(HEAD_OF, SETTINGS, relevant, seed=4).run(readings) for _ in range(2))
    assert one.answers == other.answers
    assert one.delays_us == other.delays_us


def test_clocks_that_differ_change_times_and_lose_nothing():
    readings = make_readings(10, 300)
    outcome = ClusteredJoin(HEAD_OF, SETTINGS, most_skew_us=8_000).run(readings)
    stamped = [(answer.arrival.time, answer.arrival.sensor, answer.arrival.value) for answer in outcome.answers]
    assert sorted(stamped) != sorted(readings)
    assert found_by(outcome) == true_answers(stamped)


def test_a_radio_that_says_things_twice_is_refused():
    with pytest.raises(InputError, match="duplication"):
        ClusteredJoin(HEAD_OF, radio=RadioSettings(duplication=0.1))


def test_a_head_that_is_not_its_own_head_is_refused():
    with pytest.raises(InputError, match="its own head"):
        make_topology([1, 0])


def test_a_sensor_that_is_not_there_is_refused():
    with pytest.raises(InputError, match="from 0 to 9; got 10"):
        ClusteredJoin(HEAD_OF).run([(0, 10, 1)])
