import json
from collections import Counter
from dataclasses import replace

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skerry.model.batch import empty, unpack
from skerry.model.time import END_OF_TIME, START_OF_TIME, Micros
from skerry.pipeline.pipeline import Pipeline
from skerry.plan.sharing import Copy
from skerry.sources.source import REJECTS, Split
from skerry.spark import route
from skerry.spark.envelope import ARROW_SCHEMA, DIRECT, TALLY, Envelope, to_batch
from skerry.spark.route import Router, live_buckets
from skerry.testing.laws import rows_of
from tests.fjord.given import MEAN, SLOW, Lanes, batch, lanes_beyond_delay, pipeline

TOTAL = """CREATE MATERIALIZED VIEW total AS SELECT window_start, SUM(speed) AS speed
    FROM TUMBLE(road, ts, INTERVAL '10' MICROSECOND) GROUP BY window_start"""
VIEWS = (MEAN, SLOW, TOTAL)
bucket_counts = st.integers(1, 5)


def routed(given_pipeline: Pipeline, lanes: Lanes, bucket_count: int = 3, **how) -> list[Envelope]:
    """What a task sends that takes all lanes, each in one split."""
    router = Router(given_pipeline, bucket_count, 7, how.get("newest", {}), how.get("streams", ["road"]))
    for place, lane in enumerate(lanes):
        router.intake.read_split(Split("road", str(place), 0, len(lane), horizon=how.get("horizon")))
    return list(router.envelopes(done=how.get("done", False)))


def rows(envelopes: list[Envelope]) -> Counter:
    return sum((rows_of(unpack(envelope.blob)) for envelope in envelopes if envelope.blob), Counter())


def of_group(envelopes: list[Envelope], group: int) -> list[Envelope]:
    return [envelope for envelope in envelopes if envelope.grp == group]


def named(envelopes: list[Envelope], name: str) -> list[Envelope]:
    return [envelope for envelope in envelopes if envelope.name == name]


@given(lanes=lanes_beyond_delay, bucket_count=bucket_counts)
def test_partials_of_all_buckets_are_those_of_one(lanes, bucket_count):
    found = pipeline(lanes, 1, *VIEWS)
    spread, whole = routed(found, lanes, bucket_count), routed(found, lanes, 1)
    for group, view in enumerate(found.views):
        if view.stateful:
            assert rows(of_group(spread, group)) == rows(of_group(whole, group))


@given(lanes=lanes_beyond_delay, bucket_count=bucket_counts)
def test_a_key_is_in_one_bucket(lanes, bucket_count):
    found = of_group(routed(pipeline(lanes, 1, *VIEWS), lanes, bucket_count), 0)
    keys = [set(unpack(envelope.blob)["segment"].to_pylist()) for envelope in found if envelope.blob]
    assert sum(map(len, keys)) == len(set().union(*keys))


@given(lanes=lanes_beyond_delay, bucket_count=bucket_counts, done=st.booleans())
def test_every_live_bucket_gets_one_envelope_with_rows_or_without(lanes, bucket_count, done):
    found = pipeline(lanes, 1, *VIEWS)
    envelopes = routed(found, lanes, bucket_count, done=done)
    for group, view in enumerate(found.views):
        buckets = [envelope.bucket for envelope in of_group(envelopes, group)]
        assert buckets == (list(live_buckets(view, bucket_count)) if view.stateful else [])


@given(lanes=lanes_beyond_delay)
def test_all_envelopes_of_a_group_tell_the_same_time(lanes):
    envelopes = routed(pipeline(lanes, 1, *VIEWS), lanes)
    assert len({envelope.newest for envelope in envelopes if envelope.grp != DIRECT}) == 1


@given(lanes=lanes_beyond_delay, bucket_count=bucket_counts)
def test_tally_accounts_for_every_reading(lanes, bucket_count):
    envelopes = routed(pipeline(lanes, 1, *VIEWS), lanes, bucket_count)
    [told] = [json.loads(envelope.blob) for envelope in named(envelopes, TALLY)]
    late = rows(named(envelopes, "too_late")).total()
    taken = told["tallies"].get("road", {"accepted": 0, "late": 0, "rejected": 0})
    assert taken["late"] == late
    assert taken["accepted"] + late == sum(len(unit) for lane in lanes for unit in lane)


def test_view_without_keys_lives_in_one_bucket():
    keyed, _, keyless = pipeline([[]], 1, *VIEWS).views
    assert (list(live_buckets(keyed, 4)), list(live_buckets(keyless, 4))) == ([0, 1, 2, 3], [0])


LANES: Lanes = [[[(0, 1, -8.0), (50, 1, 16.0), (5, 1, 3.0)]]]


def test_answers_that_need_no_state_go_straight_to_their_output():
    [found] = named(routed(pipeline(LANES), LANES), "slow")
    assert (found.grp, found.bucket, found.task) == (DIRECT, 7, 7)
    assert unpack(found.blob).equals(batch([(0, 1, -8.0)]))


def test_late_readings_go_straight_to_their_output():
    [found] = named(routed(pipeline(LANES), LANES), "too_late")
    assert unpack(found.blob).equals(batch([(5, 1, 3.0)]))


def test_bucket_learns_the_newest_moment_of_the_task():
    assert {envelope.newest for envelope in of_group(routed(pipeline(LANES), LANES), 0)} == {50}


def test_bucket_learns_no_more_than_all_lanes_have_come_to():
    envelopes = routed(pipeline(LANES), LANES, horizon=Micros(40))
    assert {envelope.newest for envelope in of_group(envelopes, 0)} == {40}


def test_task_without_readings_tells_the_time_as_it_was():
    envelopes = routed(pipeline([]), [], newest={"road": Micros(90)})
    assert {(envelope.newest, envelope.blob) for envelope in of_group(envelopes, 0)} == {(90, None)}


def test_reading_is_late_against_the_batches_before():
    envelopes = routed(pipeline(LANES), LANES, newest={"road": Micros(21)})
    [found] = named(envelopes, "too_late")
    assert unpack(found.blob)["ts"].cast(pa.int64()).to_pylist() == [0, 5]


def test_end_of_the_input_is_the_end_of_time():
    assert {envelope.newest for envelope in of_group(routed(pipeline(LANES), LANES, done=True), 0)} == {END_OF_TIME}


@pytest.mark.parametrize(("done", "buckets"), [(False, []), (True, [0, 1, 2])])
def test_task_of_another_stream_sends_no_tick_before_the_end(done, buckets):
    envelopes = routed(pipeline([]), [], streams=["sea"], done=done)
    assert [envelope.bucket for envelope in of_group(envelopes, 0)] == buckets


@pytest.mark.parametrize("limit", [0, 1 << 20])
def test_answers_beyond_the_limit_are_written_as_parts_and_their_number_is_sent(monkeypatch, limit):
    monkeypatch.setattr(route, "PART_BYTES", limit)
    parts: list[tuple[str, pa.RecordBatch]] = []
    router = Router(pipeline(LANES), 3, 7, {}, ["road"], write_part=lambda *told: parts.append(told))
    router.intake.read_split(Split("road", "0", 0, 1))
    [found] = named(list(router.envelopes(done=False)), "slow")
    assert ("slow" in dict(parts)) is (found.blob is None) is (limit == 0)
    assert found.row_count == (1 if limit == 0 else None)


@pytest.mark.parametrize("limit", [0, 1 << 20])
def test_a_copy_of_an_answer_is_written_as_a_part_too_but_not_sent(monkeypatch, limit):
    monkeypatch.setattr(route, "PART_BYTES", limit)
    copied = replace(pipeline(LANES), copies=(Copy("slow_too", "slow", (("v", "speed"), ("at", "ts"))),))
    parts: dict[str, pa.RecordBatch] = {}
    router = Router(copied, 3, 7, {}, ["road"], write_part=parts.__setitem__)
    router.intake.read_split(Split("road", "0", 0, 1))
    sent = named(list(router.envelopes(done=False)), "slow_too")
    assert [each.row_count for each in sent] == ([1] if limit == 0 else [])
    assert [rows.schema.names for name, rows in parts.items() if name == "slow_too"] == [["v", "at"]] * len(sent)


def test_dead_letters_are_counted_and_sent():
    found = pipeline([])
    router = Router(found, 3, 0, {}, ["road"])
    letters = pa.RecordBatch.from_pylist([{"reason": "r", "reading": "x", "place": "p"}], REJECTS)
    router.intake.admit(found.sources[0], router.intake.open_gate(found.sources[0]), batch([]), letters)
    envelopes = list(router.envelopes(done=False))
    assert json.loads(named(envelopes, TALLY)[0].blob)["tallies"]["road"]["rejected"] == 1
    assert unpack(named(envelopes, "dead_letters/road")[0].blob).equals(letters)


def test_envelopes_are_rows_to_spark():
    found = to_batch(routed(pipeline(LANES), LANES))
    assert found.schema == ARROW_SCHEMA
    assert found["task"].unique().to_pylist() == [7]
    assert to_batch([]).equals(empty(ARROW_SCHEMA))


def test_nothing_read_at_all_is_the_start_of_time():
    assert {envelope.newest for envelope in of_group(routed(pipeline([]), []), 0)} == {START_OF_TIME}
