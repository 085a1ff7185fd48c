import json

import pytest

from skerry.model.time import Micros
from skerry.sensors.messages import SensorState, Setting
from skerry.sensors.seen import Seen
from skerry.sensors.watch import Watch, read_readings

SECOND = 1_000_000
RAW = Setting("raw", Micros(SECOND))
SLOW = Setting("raw", Micros(SECOND), ranges={"speed": ((None, 30.0),)})


def watch(values, setting=RAW, control=0, listens_ms=50.0):
    found = Watch()
    found.note_state(Micros(0), SensorState(setting, control, listens_ms=listens_ms))
    for second, value in enumerate(values):
        found.note_readings(Micros((second + 1) * SECOND), [{"seq": second, "ts": "now", "speed": value}])
    return found


def test_readings_are_counted_by_the_setting_that_the_sensor_has():
    found = watch([10.0] * 60)
    found.note_state(Micros(60 * SECOND), SensorState(SLOW, control=1))
    found.note_readings(Micros(70 * SECOND), [{"speed": 5.0}, {"speed": 6.0}])
    narrow, wide = found.describe().stretches
    assert (narrow.setting, narrow.seconds, narrow.readings, narrow.messages, narrow.states) == (SLOW, 10.0, 2, 1, 1)
    assert (wide.setting, wide.seconds, wide.readings_hz) == (RAW, 60.0, 1.0)


@pytest.mark.parametrize("count", [50, 1_000, 20_000])
def test_share_that_passes_is_that_of_all_values_however_many_came(count):
    values = [float(second % 100) for second in range(count)]
    found = watch(values).describe().stretches[0].values["speed"]
    expected = sum(value <= 30.0 for value in values) / count
    assert found.count_passing(((None, 30.0),)) == pytest.approx(expected, abs=0.05)
    assert len(found.sample) <= 128


def test_readings_without_a_value_pass_always():
    found = watch([None, 50.0, None, 60.0]).describe().stretches[0].values["speed"]
    assert found.filled == 0.5
    assert found.count_passing(((None, 30.0),)) == 0.5


def test_steadiness_tells_values_that_stay_from_those_that_jump():
    slow = watch([float(n // 50) for n in range(2_000)]).describe().stretches[0].values["speed"]
    wild = watch([float(n * 7919 % 101) for n in range(2_000)]).describe().stretches[0].values["speed"]
    assert slow.steadiness > 0.9 > 0.3 > wild.steadiness


def test_time_in_which_a_sensor_was_away_counts_for_nothing():
    found = watch([1.0])
    found.note_readings(Micros(3_600 * SECOND), [{"speed": 2.0}])
    assert found.describe().stretches[0].seconds == 1.0


def test_what_was_seen_is_kept_as_json():
    seen = watch([1.5, 2.5, 3.5], SLOW, listens_ms=20.0).describe()
    assert Seen.from_json(json.loads(json.dumps(seen.to_json()))) == seen
    assert (seen.built_period_us, seen.listens_us) == (SECOND, 20_000)


@pytest.mark.parametrize(
    "payload", [b"", b"7", b'"x"', b"[1, 2]", b'{"readings": 3}', b"\xff", b"[" * 100_000, b'{"readings": [[]]}']
)
def test_garbled_messages_have_no_readings(payload):
    assert read_readings(payload) == []


def test_readings_come_one_or_several_at_a_time():
    assert read_readings(b'{"x": 1}') == read_readings(b'[{"x": 1}]') == read_readings(b'{"readings": [{"x": 1}]}')


@pytest.mark.parametrize("nonsense", [10**400, -(10**400), float("inf"), float("nan"), 1e300, True, [1], {}, "x"])
def test_value_that_cannot_be_added_up_is_none(nonsense):
    found = watch([1.0, nonsense, 3.0]).describe().stretches[0]
    assert json.dumps(found.to_json(), allow_nan=False)
    assert 1.0 <= found.values["speed"].mean <= 2.0


def test_names_of_columns_without_end_are_not_all_kept():
    found = Watch()
    found.note_state(Micros(0), SensorState(RAW))
    for number in range(2_000):
        found.note_readings(Micros(number), [{f"made-up-{number}": number}])
    assert len(found.describe().stretches[0].values) <= 256
