import pyarrow as pa
import pytest

from skerry.catalog import Source
from skerry.model.sealed_folder import SealedFolder
from skerry.model.time import END_OF_TIME, START_OF_TIME, Micros
from skerry.pipeline.outcome import Outcome, Tally
from skerry.spark.foreign import _split_off_ahead
from skerry.spark.idle import IdleWatch
from skerry.spark.progress import Progress

SCHEMA = pa.schema({"ts": pa.timestamp("us")})
MINUTE = Micros(60_000_000)


def kafka(format_="kafka", max_ahead_us=None):
    options = {"spark_format": format_}
    return Source("k", SCHEMA, "spark", options, "ts", Micros(0), "", "", max_ahead_us, Micros(10_000_000))


@pytest.fixture
def watch(tmp_path):
    now = [0.0]
    return IdleWatch([kafka()], Progress(SealedFolder(tmp_path)), lambda: now[0]), now


def test_a_source_quiet_for_its_timeout_is_as_far_as_the_others(watch):
    idle, now = watch
    assert idle.note(Outcome({"k": Tally(1)}, {"k": Micros(3), "b": Micros(5)})) == {"k": 3, "b": 5}
    now[0] = 9.0
    assert idle.note(Outcome({}, {"b": Micros(8)})) == {"b": 8}
    now[0] = 11.0
    assert idle.note(Outcome({}, {"b": Micros(9)})) == {"b": 9, "k": 9}


def test_time_goes_on_by_the_clock_where_all_sources_are_idle(watch):
    idle, now = watch
    idle.note(Outcome({"k": Tally(1)}, {"k": Micros(3), "used_up": END_OF_TIME}))
    now[0] = 10.0
    assert idle.note(Outcome()) == {}
    now[0] = 11.0
    assert idle.note(Outcome()) == {"k": 11_000_003}


def test_a_source_that_was_never_heard_stays_where_it_is(watch):
    idle, now = watch
    now[0] = 11.0
    assert idle.note(Outcome()) == {"k": START_OF_TIME}


def test_a_live_reading_is_held_against_the_clock():
    readings = pa.record_batch({"ts": pa.array([5, MINUTE, 2 * MINUTE + 1], SCHEMA.field("ts").type)})
    kept, letters = _split_off_ahead(readings, kafka(max_ahead_us=MINUTE), now=MINUTE, newest=Micros(0))
    assert kept.num_rows == 2
    assert letters["reason"].to_pylist() == ["ts is 1970-01-01 00:02:00, more than 1min ahead of the clock"]


def test_of_files_a_reading_is_held_against_those_around_it():
    readings = pa.record_batch({"ts": pa.array([1, 5 * MINUTE, 2, 3], SCHEMA.field("ts").type)})
    kept, letters = _split_off_ahead(readings, kafka("csv", MINUTE), now=0, newest=Micros(0))
    assert (kept.num_rows, letters.num_rows) == (3, 1)
