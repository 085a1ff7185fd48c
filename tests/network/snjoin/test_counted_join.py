from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skerry.errors import InputError
from skerry.network.radio import RadioSettings
from skerry.network.snjoin.clustered_join import ClusteredJoin
from skerry.network.snjoin.counted_join import CountedJoin, Probing
from skerry.network.snjoin.probers import ProbeRelevant
from skerry.network.snjoin.relevance import RelevanceSettings
from skerry.network.snjoin.settings import JoinSettings

HEAD_OF = [0, 0, 0, 3, 3, 5, 5, 5, 8, 9]
STEADY = RadioSettings(least_delay_us=7_001, most_delay_us=7_001)


def draw_readings(count, seed, gap_us=400):
    random = np.random.default_rng(seed)
    times = np.cumsum(random.integers(1, gap_us, count))
    return times, random.integers(0, 10, count), random.zipf(2, count) % 5


def run_both(readings, join, relevance=None):
    """The join with messages, and the one by counts."""
    make = {} if relevance is None else {"make_prober": partial(ProbeRelevant, settings=relevance, seed=3)}
    times, sensors, values = readings
    rows = zip(times.tolist(), sensors.tolist(), values.tolist(), strict=True)
    by_messages = ClusteredJoin(HEAD_OF, join, radio=STEADY, **make).run(rows)
    return by_messages, CountedJoin(HEAD_OF, join, Probing(relevance), STEADY, seed=3).run(*readings)


def assert_equal(by_messages, counted):
    answers = sorted(by_messages.answers, key=lambda answer: answer.arrival[1:])
    assert [len(answer.members) for answer in answers] == counted.found[counted.found >= 0].tolist()
    totals = counted.totals
    assert totals["dropped"] == by_messages.dropped
    assert totals["refused"] == by_messages.refused
    assert totals["probes"] == by_messages.probed
    assert totals["operations"] == by_messages.operations
    assert totals["bytes"] == sum(by_messages.tally.bytes_by_mote)
    assert totals["messages"] == by_messages.tally.total
    assert totals["delay_us"] == sum(by_messages.delays_us)


@given(st.integers(1, 150), st.integers(0, 1_000), st.sampled_from([0, 40.5, 900]), st.sampled_from([2, 5, 1_000]))
@settings(max_examples=15)
def test_counts_are_those_of_the_field_with_messages(count, seed, operation_us, buffer_size):
    join = JoinSettings(50_000, 30_000, 10**9, buffer_size, operation_us)
    assert_equal(*run_both(draw_readings(count, seed), join))


@given(st.integers(1, 150), st.integers(0, 1_000), st.sampled_from([41.3, 900.7]), st.booleans())
@settings(max_examples=15)
def test_counts_with_feedback_are_those_of_the_field_with_messages(count, seed, operation_us, normalised):
    join = JoinSettings(50_000, 30_000, 10**9, operation_us=operation_us)
    relevance = RelevanceSettings(cells=4, normalised=normalised)
    assert_equal(*run_both(draw_readings(count, seed), join, relevance))


def test_room_grows_with_what_is_under_way():
    readings = draw_readings(4_000, seed=1, gap_us=3)
    counted = CountedJoin(HEAD_OF, JoinSettings(50_000, 30_000)).run(*readings)
    assert counted.begun == counted.totals["answers"] == 4_000


def test_widths_are_those_of_the_answers():
    readings = draw_readings(641, seed=2)
    by_messages, counted = run_both(readings, JoinSettings(50_000, 30_000))
    answers = sorted(by_messages.answers, key=lambda answer: answer.arrival[1:])
    assert counted.totals["widths"] == 11
    assert counted.totals["width"] == sum(answer.width for answer in answers[::64])


def test_nothing_is_counted_before_the_warm_up_and_after_the_end():
    times, sensors, values = draw_readings(500, seed=3)
    counted = CountedJoin(HEAD_OF, JoinSettings(50_000, 30_000)).run(times, sensors, values, 30_000, 60_000)
    assert counted.totals["arrived"] < 200
    assert (counted.found[times > 60_000] == -1).all()


def test_a_table_per_sensor_costs_a_lookup_per_member_and_finds_the_same():
    readings = draw_readings(300, seed=4)
    one, many = (
        CountedJoin(HEAD_OF, JoinSettings(50_000, 30_000), Probing(table_per_sensor=each)).run(*readings)
        for each in (False, True)
    )
    assert (one.found == many.found).all()
    assert many.totals["operations"] - one.totals["operations"] == 300 * (10 - 5)


def test_announcements_are_counted_and_change_the_order_alone():
    readings = draw_readings(3_000, seed=5)
    plain, announced = (
        CountedJoin(HEAD_OF, JoinSettings(50_000, 30_000), Probing(announce_us=each)).run(*readings)
        for each in (0, 20_000)
    )
    assert (plain.found == announced.found).all()
    announcements, rest = divmod(announced.totals["messages"] - plain.totals["messages"], 5)
    assert announcements > 20
    assert rest == 0


def test_links_slower_than_the_settling_time_are_refused():
    with pytest.raises(InputError, match="no slower than settle_us"):
        CountedJoin(HEAD_OF, JoinSettings(settle_us=10))
