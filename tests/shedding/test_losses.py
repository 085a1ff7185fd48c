import random

import numpy as np
import pytest

from skerry.kernels.shedding.loss_counters import sample_hashes
from skerry.shedding.bounded_join import POLICIES
from tests.oracles.joins import Tuple
from tests.shedding import reference
from tests.shedding.arrivals import answers, columns, make_join
from tests.shedding.test_bounded_join import TWINS

RATE = 0.01


def mix_tuples(count=2000, keys=150, streams=3, window=300):
    drawn = random.Random(5)
    found = [(drawn.randrange(streams), drawn.randrange(keys), row // 2) for row in range(count)]
    return [Tuple(stream, key, start, start + window, row) for row, (stream, key, start) in enumerate(found)]


def is_sampled(key, rate=RATE):
    return sample_hashes(np.array([key], np.int64))[0] < rate * 2**53


@pytest.mark.parametrize("policy", sorted(TWINS))
def test_sample_is_spared_and_what_it_would_have_lost_is_counted(policy):
    tuples, budgets = mix_tuples(), [120, 110, 100]
    join = make_join(budgets, policy, sample=RATE, span_us=100)
    twin = reference.BoundedJoin(budgets, TWINS[policy](3), is_sampled)
    for each in tuples:
        assert answers(join, [each]) == sorted(twin.join([each]))
    losses = join.losses(10**6)
    assert all(loss.lost.rate == pytest.approx(RATE) for loss in losses)
    assert sum(loss.lost.total for loss in losses) == sum(twin.lost.values())
    assert twin.shed == [sum(sum(loss.streams[stream].shed.values()) for loss in losses) for stream in range(3)]


@pytest.mark.parametrize("policy", sorted(POLICIES))
def test_answers_add_up_over_spans(policy):
    tuples = mix_tuples()
    join = make_join([120] * 3, policy, sample=RATE, span_us=7)
    given = answers(join, tuples)
    losses = join.losses(10**6)
    assert sum(loss.answers + loss.sample_answers for loss in losses) == len(given)
    keys = {each.row: each.key for each in tuples}
    in_sample = [rows for rows in given if is_sampled(keys[rows[0]])]
    assert sum(loss.sample_answers for loss in losses) == len(in_sample) > 0
    newest = [max(tuples[row].start for row in rows) // 7 for rows in given]
    reported = {loss.start // 7: loss.answers + loss.sample_answers for loss in losses}
    assert {span: count for span, count in reported.items() if count} == {span: newest.count(span) for span in newest}


def test_span_is_reported_once_when_it_is_over():
    join = make_join([1], "oldest")
    answers(join, [Tuple(0, 0, 1, 9, 0), Tuple(0, 1, 4, 9, 1), Tuple(0, 2, 5, 9, 2), Tuple(0, 3, 12, 19, 3)])
    assert join.losses(4) == ()
    first, second = join.losses(14)
    assert (first.start, first.end, first.streams[0].received, dict(first.streams[0].shed)) == (0, 5, 2, {"oldest": 1})
    assert (second.start, second.streams[0].received, dict(second.streams[0].shed)) == (5, 1, {"oldest": 1})
    assert [loss.start for loss in join.losses(15)] == [10]
    assert join.losses(1000) == ()


def test_moments_before_zero_are_in_spans_too():
    join = make_join([9], "oldest")
    answers(join, [Tuple(0, 0, -1, 9, 0), Tuple(0, 0, -5, 9, 1), Tuple(0, 0, -6, 9, 2)])
    assert [(loss.start, loss.end, loss.streams[0].received) for loss in join.losses(0)] == [(-10, -5, 1), (-5, 0, 2)]


def test_tuples_that_went_are_reported_by_pattern():
    join = make_join([1, 9], "pattern")
    answers(join, [Tuple(1, 7, 0, 9, 0), Tuple(0, 7, 1, 9, 0), Tuple(0, 8, 2, 9, 1), Tuple(0, 9, 3, 9, 2)])
    (loss,) = join.losses(100)
    assert dict(loss.streams[0].shed) == {"10": 1, "11": 1}
    assert dict(loss.streams[1].shed) == {}


def test_sample_that_takes_too_much_room_is_halved_until_it_fits():
    join = make_join([20, 20], "oldest", sample=1.0)
    answers(join, mix_tuples(count=400, keys=100, streams=2))
    (loss, *_) = join.losses(10**6)
    assert loss.lost.rate in [2.0**-power for power in range(2, 20)]
    assert join.balance().kept.tolist() == [20, 20]


def test_lost_answers_are_reported_for_each_stream_that_lacks_a_member():
    sampled = next(key for key in range(1000) if is_sampled(key, 0.01))
    others = [key for key in range(1000) if not is_sampled(key, 0.01)][:30]
    join = make_join([10, 30], "oldest", sample=0.01, span_us=100)
    answers(join, [Tuple(0, sampled, 0, 99, 0), *(Tuple(0, key, 1, 99, key) for key in others)])
    assert answers(join, [Tuple(1, sampled, 2, 99, 0)]) == [(0, 0)]
    (loss,) = join.losses(100)
    assert (loss.lost.total, loss.lost.squares, loss.lost.keys, loss.lost.largest) == (1, 1, 1, 1)
    assert [stream.lost.total for stream in loss.streams] == [1, 0]
    assert (loss.sample_answers, loss.answers) == (1, 0)


@pytest.mark.parametrize("policy", sorted(POLICIES))
def test_as_many_are_refused_as_asked(policy):
    join = make_join([10**4] * 3, policy)
    tuples = mix_tuples(count=6000, keys=2000)
    answers(join, tuples[:2000])
    join.share = 0.6
    for start in range(2000, 6000, 500):
        answers(join, tuples[start : start + 500])
    received, shed, _, _ = join.balance()
    assert 0.36 < shed.sum() / (received.sum() - 2000) < 0.44


def test_refused_are_those_that_promise_least():
    pairs = [(key, stream) for key in range(900) for stream in (0, 1)]
    hopeful = [Tuple(stream, key, 10 * key + stream, 10 * key + 9, 4 * key + stream) for key, stream in pairs]
    hopeless = [Tuple(1, 10**6 + key, 10 * key + 2, 10 * key + 9, 4 * key + 2) for key in range(900)]
    tuples = sorted(hopeful + hopeless, key=lambda each: each.start)
    join = make_join([100, 100], "pattern", span_us=10**6)
    answers(join, tuples[:600])
    join.share = 0.6
    before = join.balance().shed.sum()
    found = [pair for start in range(600, 2700, 300) for pair in answers(join, tuples[start : start + 300])]
    assert join.balance().shed.sum() > before + 500
    assert len(found) > 350


def test_sample_is_never_refused_and_shows_what_refusal_costs():
    join = make_join([10**4] * 3, "random", sample=0.1, span_us=10**6)
    tuples = mix_tuples(count=4000, keys=300)
    answers(join, tuples[:1000])
    join.losses(10**9)
    join.share = 0.3
    found = [pair for start in range(1000, 4000, 500) for pair in answers(join, tuples[start : start + 500])]
    (loss,) = join.losses(10**9)
    assert 0 < loss.lost.total < loss.sample_answers
    keys = {each.row: each.key for each in tuples}
    assert loss.sample_answers == sum(is_sampled(keys[rows[0]], 0.1) for rows in found)


def test_count_of_a_product_is_credited_by_shares():
    tuples = [Tuple(stream, 7, 0, 99, 10 * stream + index) for stream in range(3) for index in range(4)]
    written, counted = (make_join([4] * 3, "pattern", sample=1.0) for _ in range(2))
    assert counted.count(columns(tuples)) == len(answers(written, tuples)) == 64
    assert written.losses(1000) == counted.losses(1000)
