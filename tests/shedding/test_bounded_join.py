import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skerry.errors import KernelError, LimitError, OptionError
from skerry.kernels.hash import hash_of
from skerry.kernels.shedding.policies import pattern
from skerry.shedding.bounded_join import POLICIES
from tests import oracles
from tests.oracles.joins import Tuple
from tests.shedding import reference
from tests.shedding.arrivals import answers, arrivals, columns, live, make_join

TWINS = {
    "pattern": reference.Pattern,
    "frequency": lambda streams: reference.Frequency(),
    "output": lambda streams: reference.Output(),
    "oldest": lambda streams: reference.Oldest(),
}
policies = st.sampled_from(sorted(POLICIES))


@settings(max_examples=150)
@given(arrivals(), st.sampled_from(sorted(TWINS)), st.lists(st.integers(0, 40), min_size=30, max_size=30))
def test_answers_and_victims_are_those_of_the_rules(drawn, policy, watermarks):
    budgets, tuples = drawn
    join, twin = make_join(budgets, policy), reference.BoundedJoin(budgets, TWINS[policy](len(budgets)))
    for each, watermark in zip(tuples, watermarks, strict=False):
        assert answers(join, [each]) == sorted(twin.join([each]))
        if watermark < each.start:
            join.sweep(watermark)
            twin.sweep(watermark)
        assert live(join) == [twin.live(stream) for stream in range(len(budgets))]
    received, shed, expired, _ = join.balance()
    assert (received.tolist(), shed.tolist(), expired.tolist()) == (twin.received, twin.shed, twin.expired)


@settings(max_examples=40)
@given(arrivals(), st.sampled_from(["random", "adaptive"]))
def test_whoever_goes_the_rest_follows_from_the_rules(drawn, policy):
    budgets, tuples = drawn
    join = make_join(budgets, policy)

    def find_gone(candidates):
        return next(each for each in candidates if each.row not in join.live_rows(each.stream))

    twin = reference.BoundedJoin(budgets, reference.Random(find_gone))
    for each in tuples:
        assert answers(join, [each]) == sorted(twin.join([each]))
        assert live(join) == [twin.live(stream) for stream in range(len(budgets))]


@settings(max_examples=40)
@given(arrivals(), st.integers(1, 3))
def test_keys_that_share_a_hash_value_share_their_pattern(drawn, hash_values):
    budgets, tuples = drawn

    def hash_value(key):
        return int(np.uint64(hash_of(np.int64(key)))) % hash_values

    join = make_join(budgets, "pattern", hash_values=hash_values)
    twin = reference.BoundedJoin(budgets, reference.Pattern(len(budgets), hash_value))
    for each in tuples:
        assert answers(join, [each]) == sorted(twin.join([each]))
        assert live(join) == [twin.live(stream) for stream in range(len(budgets))]


@settings(max_examples=40)
@given(arrivals(), policies)
def test_budgets_that_are_not_reached_change_nothing(drawn, policy):
    budgets, tuples = drawn
    join = make_join([1000] * len(budgets), policy)
    assert answers(join, tuples) == oracles.combinations(tuples, len(budgets))
    assert not join.balance().shed.any()


@settings(max_examples=40)
@given(arrivals(), policies)
def test_budgets_hold_and_every_tuple_is_accounted_for(drawn, policy):
    budgets, tuples = drawn
    join = make_join(budgets, policy, sample=0.3)
    for taken, each in enumerate(tuples, start=1):
        answers(join, [each])
        received, shed, expired, kept = join.balance()
        assert received.sum() == taken
        assert (received == shed + expired + kept).all()
        assert (kept <= budgets).all()


@settings(max_examples=40)
@given(arrivals(), policies, st.integers(0, 30), st.booleans())
def test_run_that_goes_on_elsewhere_is_the_same_run(drawn, policy, cut, writing):
    budgets, tuples = drawn
    join, there = (make_join(budgets, policy, sample=0.3, seed=3) for _ in range(2))
    join.share = 0.8
    answers(join, tuples[:cut])
    there.restore(join.save())
    rest = columns(tuples[cut:])
    if writing:
        assert there.join(rest, 10**6).tolist() == join.join(rest, 10**6).tolist()
    else:
        assert there.count(rest) == join.count(rest)
    assert live(there) == live(join)
    assert there.losses(1000) == join.losses(1000)
    assert there.save() == join.save()


@settings(max_examples=40)
@given(arrivals(), policies, st.integers(0, 30))
def test_tuples_may_come_in_several_calls(drawn, policy, cut):
    budgets, tuples = drawn
    join, other = (make_join(budgets, policy, sample=0.3) for _ in range(2))
    assert answers(join, tuples) == sorted(answers(other, tuples[:cut]) + answers(other, tuples[cut:]))
    assert live(join) == live(other)
    assert join.losses(1000) == other.losses(1000)


@settings(max_examples=40)
@given(arrivals(), policies)
def test_counting_counts_what_would_be_written(drawn, policy):
    budgets, tuples = drawn
    join, counter = (make_join(budgets, policy, sample=0.3) for _ in range(2))
    assert counter.count(columns(tuples)) == len(answers(join, tuples))
    assert live(counter) == live(join)
    assert counter.losses(1000) == join.losses(1000)


@pytest.mark.parametrize("stream_count", [17, 64])
@pytest.mark.parametrize("policy", ["pattern", "adaptive"])
def test_many_streams_have_patterns_too(stream_count, policy):
    found = [Tuple(row % stream_count, row // stream_count, row, row + 10**6, row) for row in range(4 * stream_count)]
    join = make_join([2] * stream_count, policy)
    assert len(answers(join, found)) == 4
    assert join.balance().shed.tolist() == [2] * stream_count


def test_patterns_are_as_many_as_are_seen():
    random = np.random.default_rng(0)
    pairs = [(key, stream) for key in range(300) for stream in np.flatnonzero(random.random(20) < 0.5)]
    join = make_join([5] * 20, "pattern")
    assert answers(join, [Tuple(stream, key, key, key + 9, key) for key, stream in pairs]) == []
    assert join.balance().kept.max() == 5
    shed = {name for loss in join.losses(1000) for stream in loss.streams for name in stream.shed}
    assert len(shed) > 256
    assert {len(name) for name in shed} == {20}


def test_windows_grow_until_the_budget():
    found = [Tuple(row % 2, row, row, 10**6, row) for row in range(5000)]
    for policy in sorted(POLICIES):
        join = make_join([1500, 2000], policy, span_us=10**6)
        answers(join, found)
        assert join.balance().kept.tolist() == [1500, 2000]


def test_room_for_keys_is_used_again():
    join = make_join([10, 10], "output")
    for start in range(0, 20_000, 1000):
        answers(join, [Tuple(row % 2, row, row, row + 5, row) for row in range(start, start + 1000)])
    assert len(join._windows.entries) <= 4096


def test_same_seed_draws_the_same_victims():
    found = [Tuple(0, row, 0, 9, row) for row in range(200)]
    drawn = [make_join([50], "random", seed=seed) for seed in (1, 1, 2)]
    for join in drawn:
        answers(join, found)
    assert live(drawn[0]) == live(drawn[1]) != live(drawn[2])


def test_random_victims_are_of_all_ages():
    join = make_join([100], "random")
    answers(join, [Tuple(0, row, 0, 9, row) for row in range(1000)])
    ages = 1000 - join.live_rows(0)
    assert 70 < ages.mean() < 130


def test_product_is_counted_without_being_spelled_out():
    rows = [Tuple(row % 5, 7, row, 10**6, row) for row in range(1000)]
    assert make_join([200] * 5, "adaptive").count(columns(rows)) == 200.0**5


@settings(max_examples=60)
@given(arrivals(), policies, st.integers(0, 1000))
def test_once_there_are_as_many_answers_as_allowed_the_rest_is_refused(drawn, policy, number):
    budgets, tuples = drawn
    free, join = make_join(budgets, policy), make_join(budgets, policy)
    whole = free.join(columns(tuples), 10**6).tolist()
    limit = number % (len(whole) + 1)
    found = join.join(columns(tuples), limit).tolist()
    assert found == whole[: len(found)]
    assert len(found) <= limit
    received, shed, expired, kept = join.balance()
    assert (received == free.balance().received).all()
    assert (received == shed + expired + kept).all()
    assert len(whole) > limit or live(join) == live(free)


def test_what_comes_next_is_taken_in_again_where_a_rest_was_refused():
    rows = [Tuple(row % 2, 7, row, row + 1000, row) for row in range(40)]
    join, other = make_join([100, 100], "pattern"), make_join([100, 100], "pattern")
    assert len(join.join(columns(rows[:20]), 30)) == 30
    other.restore(join.save())
    assert join.balance().shed.sum() == 9
    for each in (join, other):
        each.join(columns(rows[20:]), 1000)
        assert each.balance().kept.sum() == 31


def test_more_answers_of_the_sample_than_allowed_are_too_many():
    rows = [Tuple(row % 2, 7, row, row + 1000, row) for row in range(20)]
    assert len(make_join([100, 100], "pattern", sample=1.0).join(columns(rows), 50)) == 100
    with pytest.raises(LimitError, match="of a step gives 100 combinations of tuples or more, the limit is 98"):
        make_join([100, 100], "pattern", sample=1.0).join(columns(rows), 49)


def test_when_not_all_is_taken_in_no_call_gives_far_more_than_those_before(monkeypatch):
    monkeypatch.setattr("skerry.shedding.bounded_join._ALWAYS", 10)
    join = make_join([1000, 1000], "oldest")
    join.share = 0.5
    sizes = []
    for call in range(12):
        keys = 20 if call < 10 else 1
        rows = [Tuple(n % 2, n // 2 % keys, n, n + 99, n) for n in range(200 * call, 200 * (call + 1))]
        sizes.append(len(join.join(columns(rows), 10**6)))
    assert sizes[8] <= sizes[10] <= 2 * max(sizes[:10])
    assert sizes[11] > sizes[10]


def test_answers_that_outgrow_the_first_room_are_all_given():
    rows = [Tuple(row % 3, 7, row, row + 10**6, row) for row in range(90)]
    assert answers(make_join([30] * 3, "adaptive"), rows) == oracles.combinations(rows, 3)


def test_tuple_that_is_never_live_is_none():
    join = make_join([1], "oldest")
    assert answers(join, [Tuple(0, 7, 3, 2, 0)]) == []
    assert join.balance().received.tolist() == [0]


def test_unknown_policy_is_named_with_those_there_are():
    with pytest.raises(OptionError, match="unknown policy of shedding 'x'; there are adaptive, frequency, oldest"):
        make_join([1], "x")


@pytest.mark.parametrize(("budgets", "options"), [([0], {}), ([1] * 65, {}), ([], {}), ([1], {"span_us": 0})])
def test_what_cannot_be_is_refused(budgets, options):
    with pytest.raises(KernelError):
        make_join(budgets, "oldest", **options)


def test_patterns_without_tuples_are_forgotten_when_there_are_many(monkeypatch):
    monkeypatch.setattr(pattern, "_MANY", 64)
    random = np.random.default_rng(7)
    drawn = zip(random.integers(0, 9, 6000).tolist(), random.integers(0, 40, 6000).tolist(), strict=True)
    tuples = [Tuple(stream, key, row, row + 150, row) for row, (stream, key) in enumerate(drawn)]
    join = make_join([6] * 9, "pattern", span_us=10**6)
    found = answers(join, tuples[:4000])
    other = make_join([6] * 9, "pattern", span_us=10**6)
    other.restore(join.save())
    assert join._policy.label_count <= 128
    assert answers(join, tuples[4000:]) == answers(other, tuples[4000:])
    assert len(set(found)) == len(found)
    received, shed, expired, kept = join.balance()
    assert (received == shed + expired + kept).all()
    (loss,) = join.losses(10**7)
    assert [sum(stream.shed.values()) for stream in loss.streams] == shed.tolist()


@pytest.mark.parametrize("policy", ["pattern", "output"])
def test_room_that_is_not_in_use_is_not_saved(policy):
    join = make_join([10**6], policy, span_us=10**6)
    answers(join, [Tuple(0, key, key, key + 9999, key) for key in range(5000)])
    assert len(join.save()) < 0.5 * sum(array.nbytes for array in join._parts().values())
