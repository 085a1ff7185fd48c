import math

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skerry.errors import InputError, LimitError
from skerry.model.batch import join
from skerry.model.time import END_OF_TIME, START_OF_TIME, Micros
from skerry.model.types import TIMESTAMP
from skerry.operators.gather import Gather
from skerry.testing import laws
from tests.oracles.gather import Answer, Reading, flatten, gather, gather_early

INTEGERS = st.none() | st.sampled_from([-(2**63), -1, 2, 2**63 - 1])
DOUBLES = st.none() | st.sampled_from([math.nan, 0.0, -0.0, 1.5, -math.inf, 5e-324])
TEXTS = st.none() | st.sampled_from(["", "a", "A", "ä", "ab"])
KINDS = {
    "integers": (pa.int64(), INTEGERS, pa.int32(), st.none() | st.sampled_from([-5, 0, 3, 2**31 - 1])),
    "texts": (pa.string(), TEXTS, pa.string(), TEXTS),
    "doubles": (pa.float64(), DOUBLES, pa.int64(), st.integers(-1, 1)),
    "moments": (TIMESTAMP, st.integers(-1, 1), pa.float64(), st.sampled_from([-1.5, -0.5, 0.0, 2.5])),
    "truth": (pa.bool_(), st.none() | st.booleans(), pa.large_string(), TEXTS),
}
kinds = pytest.mark.parametrize("kind", KINDS)
spans, arities = st.integers(0, 12), st.integers(1, 4)
few = settings(max_examples=25)


def schema(kind="integers"):
    key, _, sensor, _ = KINDS[kind]
    return pa.schema({"other": pa.int8(), "at": TIMESTAMP, "reading": key, "station": sensor})


def batch(rows, kind="integers"):
    """Rows of (key, sensor, time) as a batch."""
    columns = {"other": [None] * len(rows), "at": [row[2] for row in rows]}
    columns |= {"reading": [row[0] for row in rows], "station": [row[1] for row in rows]}
    arrays = [pa.array(columns[field.name], field.type) for field in schema(kind)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema(kind))


def operator(kind="integers", span_us=10, **options):
    return Gather(schema(kind), key="reading", sensor="station", time="at", span_us=span_us, **options)


@st.composite
def steps(draw, kind):
    """Batches with watermarks, no row behind the one before it."""
    _, keys, _, sensors = KINDS[kind]
    found, newest = [], START_OF_TIME
    for _ in range(draw(st.integers(1, 4))):
        drawn = draw(st.lists(st.tuples(keys, sensors, st.integers(-10, 10)), max_size=8))
        kept = [row for row in drawn if row[2] >= newest]
        newest = max(newest, Micros(draw(st.integers(-10, 10))))
        found.append((batch(kept, kind), newest))
    return found


def readings(steps):
    columns = join([each for each, _ in steps], steps[0][0].schema)
    keys = columns.column("reading")
    keys = keys.cast(pa.int64()) if pa.types.is_timestamp(keys.type) else keys
    times = columns.column("at").cast(pa.int64()).to_pylist()
    return [Reading(*row) for row in zip(keys.to_pylist(), columns.column("station").to_pylist(), times, strict=True)]


def expected(answers):
    """What the oracle gives, in an order of its own; zero has no sign."""
    return sorted(repr(answer._replace(reading=_unsigned(answer.reading))) for answer in answers)


def _unsigned(reading):
    return reading._replace(key=reading.key + 0.0) if isinstance(reading.key, float) else reading


def spelled(found):
    """A batch as the oracle's answers."""
    keys, sensors, times, arities, members = (column.to_pylist() for column in _plain(found).columns)
    rows = zip(keys, sensors, times, arities, members, strict=True)
    return [
        Answer(Reading(key, sensor, time), arity, tuple((each["sensor"], each["ts"]) for each in listed))
        for key, sensor, time, arity, listed in rows
    ]


def _plain(found):
    """The batch with all times as numbers."""
    member = pa.struct([("sensor", found.schema.field("sensor").type), ("ts", pa.int64())])
    key = found.schema.field("key").type
    types = [pa.int64() if pa.types.is_timestamp(key) else key, found.schema.field("sensor").type, pa.int64()]
    columns = [
        column.cast(type_) for column, type_ in zip(found.columns, [*types, pa.int32(), pa.list_(member)], strict=True)
    ]
    return pa.RecordBatch.from_arrays(columns, names=found.schema.names)


def run(gathering, steps):
    found = []
    for each, watermark in [*steps, (batch([]).slice(0, 0), END_OF_TIME)]:
        if each.num_rows:
            found += spelled(gathering.transition(each))
        found += spelled(gathering.advance(watermark))
    return found


@kinds
@given(data=st.data(), span_us=spans, min_arity=arities)
def test_answers_agree_with_comparing_all(kind, data, span_us, min_arity):
    given_ = data.draw(steps(kind))
    found = run(operator(kind, span_us, min_arity=min_arity), given_)
    assert expected(found) == expected(gather(readings(given_), span_us, min_arity))


@kinds
@given(data=st.data(), span_us=spans, min_arity=arities)
def test_early_answers_agree_with_comparing_all(kind, data, span_us, min_arity):
    given_ = data.draw(steps(kind))
    found = run(operator(kind, span_us, min_arity=min_arity, early=True), given_)
    assert expected(found) == expected(gather_early(readings(given_), span_us, min_arity))


@kinds
@few
@given(data=st.data(), span_us=spans, early=st.booleans())
def test_flattened_answers_agree_with_a_product(kind, data, span_us, early):
    given_ = data.draw(steps(kind))
    found = run(operator(kind, span_us, early=early, flatten=True), given_)
    answers = (gather_early if early else gather)(readings(given_), span_us, 1)
    assert expected(found) == expected([row for answer in answers for row in flatten(answer)])


@kinds
@pytest.mark.parametrize("flatten", [False, True])
@few
@given(data=st.data(), span_us=spans, min_arity=arities)
def test_operator_keeps_all_laws(kind, flatten, data, span_us, min_arity):
    given_ = data.draw(steps(kind))
    laws.check_laws(lambda: operator(kind, span_us, min_arity=min_arity, flatten=flatten), given_, time="at")


@kinds
@few
@given(data=st.data(), span_us=spans, min_arity=arities)
def test_early_operator_keeps_the_laws_that_are_not_about_order(kind, data, span_us, min_arity):
    make = lambda: operator(kind, span_us, min_arity=min_arity, early=True)  # noqa: E731
    given_ = data.draw(steps(kind))
    laws.snapshot_mid_stream_changes_nothing(make, given_)
    laws.incremental_changes_equal_snapshot(make, given_)
    laws.one_batch_equals_many(make, given_)
    laws.state_stays_bounded(make, given_)


@kinds
@few
@given(data=st.data(), span_us=spans, min_arity=arities, early=st.booleans())
def test_other_buckets_change_nothing(kind, data, span_us, min_arity, early):
    make = lambda: operator(kind, span_us, min_arity=min_arity, early=early)  # noqa: E731
    laws.other_buckets_change_nothing(make, data.draw(steps(kind)), keys=["reading"])


def test_pair_of_one_time_stands_in_the_answer_of_the_later_sensor():
    found = run(operator(min_arity=2), [(batch([(7, 9, 0), (7, 3, 0)]), START_OF_TIME)])
    assert found == [Answer(Reading(7, 9, 0), 2, ((9, 0), (3, 0)))]


def test_edge_of_the_window_is_in_it():
    assert [each.arity for each in run(operator(span_us=5), [(batch([(7, 1, 0), (7, 2, 5)]), START_OF_TIME)])] == [1, 2]
    assert [each.arity for each in run(operator(span_us=4), [(batch([(7, 1, 0), (7, 2, 5)]), START_OF_TIME)])] == [1, 1]


def test_arity_counts_sensors_not_tuples():
    rows = [(7, 1, 0), (7, 1, 1), (7, 1, 2), (7, 2, 3)]
    assert run(operator(), [(batch(rows), START_OF_TIME)])[-1] == Answer(
        Reading(7, 2, 3), 2, ((2, 3), (1, 2), (1, 1), (1, 0))
    )


def test_answer_is_given_when_the_watermark_has_passed_its_tuple():
    gathering = operator()
    assert gathering.transition(batch([(7, 1, 3)])).num_rows == 0
    assert gathering.advance(Micros(3)).num_rows == 0
    assert gathering.advance(Micros(4)).num_rows == 1
    assert gathering.advance(END_OF_TIME).num_rows == 0


def test_watermark_that_falls_back_gives_nothing():
    gathering = operator()
    gathering.advance(Micros(8))
    gathering.transition(batch([(7, 1, 9)]))
    assert gathering.advance(Micros(2)).num_rows == 0


def test_early_answer_is_amended_by_a_member_that_comes_after_it():
    gathering = operator(early=True, min_arity=2)
    assert gathering.transition(batch([(7, 1, 5)])).num_rows == 0
    assert spelled(gathering.transition(batch([(7, 2, 3)]))) == [Answer(Reading(7, 1, 5), 2, ((1, 5), (2, 3)))]


def test_streams_are_gathered_as_one():
    gathering = operator(min_arity=2)
    gathering.transition(batch([(7, 1, 0)]), stream=0)
    gathering.transition(batch([(7, 2, 1)]), stream=1)
    assert gathering.advance(END_OF_TIME).num_rows == 1


def test_schema_has_the_types_of_key_and_sensor():
    member = pa.struct([("sensor", pa.large_string()), ("ts", TIMESTAMP)])
    names = {"key": pa.bool_(), "sensor": pa.large_string(), "ts": TIMESTAMP, "arity": pa.int32()}
    assert operator("truth").schema == pa.schema({**names, "members": pa.list_(member)})
    assert operator("truth").advance(END_OF_TIME).schema == operator("truth").schema


def crowd(sensors, tuples):
    """Tuples of sensors from 1, and then one of sensor 0."""
    return batch([*((7, sensor, 0) for sensor in range(1, sensors + 1) for _ in range(tuples)), (7, 0, 1)])


def test_million_combinations_are_one_row():
    gathering = operator(min_arity=21)
    gathering.transition(crowd(20, 2))
    assert [len(answer.members) for answer in spelled(gathering.advance(END_OF_TIME))] == [41]


def test_more_rows_than_the_limit_are_refused():
    gathering = operator(flatten=True, min_arity=4, limit=7)
    gathering.transition(crowd(3, 2))
    with pytest.raises(LimitError, match="more than 7 rows"):
        gathering.advance(END_OF_TIME)


def test_as_many_rows_as_the_limit_are_given():
    gathering = operator(flatten=True, min_arity=4, limit=8)
    gathering.transition(crowd(3, 2))
    assert gathering.advance(END_OF_TIME).num_rows == 8


def test_combinations_beyond_all_memory_are_refused_at_once():
    gathering = operator(flatten=True, min_arity=31)
    gathering.transition(crowd(30, 100))
    with pytest.raises(LimitError, match="more than 10000000 rows"):
        gathering.advance(END_OF_TIME)


@pytest.mark.parametrize("early", [False, True])
def test_names_without_a_tuple_are_forgotten(early, monkeypatch):
    monkeypatch.setattr("skerry.operators.gather._FEW", 4)
    gathering = operator("texts", span_us=2, early=early, min_arity=2)
    counts = []
    for time in range(100):
        gathering.transition(batch([(f"key {time // 2}", f"sensor {time}", time)], "texts"))
        counts.append(gathering.advance(Micros(time)).num_rows)
        assert max(gathering._keys.count, gathering._sensors.count) < 20
    assert early or sum(counts) == 49


def test_changes_write_what_is_new_alone():
    gathering = operator(span_us=1000)
    gathering.transition(batch([(place, 1, place) for place in range(500)]))
    gathering.changes()
    gathering.transition(batch([(7, 2, 500)]))
    assert sum(len(blob) for blob in gathering.changes().put.values()) < 2000


@pytest.mark.parametrize("options", [{"span_us": -1}, {"min_arity": 0}])
def test_senseless_options_are_refused(options):
    with pytest.raises(InputError, match="must not be below"):
        operator(**options)
