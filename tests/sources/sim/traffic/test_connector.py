import pickle
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skerry.catalog import Source
from skerry.errors import SourceError
from skerry.replay.replay import Replay
from skerry.sources.sim.traffic import TrafficConnector
from skerry.sources.sim.traffic.columns import COLUMNS
from skerry.sources.source import REJECTS, Split

EVERYTHING = pa.schema({name: type_ for name, (type_, _) in COLUMNS.items()})
START = 960_184_800_000_000


def opened(name="traffic", schema=EVERYTHING, **options):
    return TrafficConnector.open(Source(name, schema, "sim", options))


def joined(connector, splits):
    """Readings and dead letters of some splits, one behind the other."""
    decoded = [part for split in splits for part in connector.read(split)]
    readings = pa.Table.from_batches([part.readings for part in decoded], connector.definition.schema)
    rejects = pa.Table.from_batches([part.rejects for part in decoded], REJECTS)
    return readings.combine_chunks(), rejects.combine_chunks()


def whole(connector):
    return joined(connector, [Split("traffic", lane.name, 0, lane.count()) for lane in connector.lanes()])


def in_order(table):
    return table.sort_by([("ts", "ascending"), ("sensor", "ascending"), ("lane", "ascending")])


NARROW = opened(sensors="5", lanes="2", duration="1h", disorder="3s", garbled="0.02")
UNITS = NARROW.lanes()[0].count()
UNIT_SECONDS = 1250


@pytest.mark.parametrize("lane", ["traffic-0", "traffic-1", "traffic-2"])
@settings(deadline=None, max_examples=25)
@given(marks=st.lists(st.tuples(st.integers(0, UNITS - 1), st.integers(-5, UNIT_SECONDS + 5)), max_size=6))
def test_cuts_lose_and_double_nothing(lane, marks):
    cuts = [(unit, START + (unit * UNIT_SECONDS + second) * 1_000_000) for unit, second in sorted(marks)]
    starts, ends = [(0, None), *cuts], [*cuts, (UNITS - 1, None)]
    pairs = zip(starts, ends, strict=True)
    splits = [Split("traffic", lane, start, stop + 1, after, until) for (start, after), (stop, until) in pairs]
    assert joined(NARROW, splits) == joined(NARROW, [Split("traffic", lane, 0, UNITS)])


@settings(deadline=None, max_examples=25)
@given(unit=st.integers(0, UNITS - 1), second=st.integers(-5, UNIT_SECONDS + 5), back=st.integers(0, 999_999))
def test_a_cut_takes_what_arrives_until_then(unit, second, back):
    clean = opened(sensors="5", lanes="2", duration="1h", disorder="3s", garbled="0")
    until = START + (unit * UNIT_SECONDS + second) * 1_000_000 - back
    all_of_it, _ = joined(clean, [Split("traffic", "traffic-0", unit, unit + 1)])
    part, _ = joined(clean, [Split("traffic", "traffic-0", unit, unit + 1, until=until)])
    arrivals = np.maximum.accumulate(all_of_it["ts"].cast(pa.int64()).to_numpy())
    assert part == all_of_it.slice(0, int((arrivals <= until).sum()))


@pytest.mark.parametrize("step_rows", [1_000, 20_000, 10**9])
def test_replay_beside_another_source_reads_everything_once(step_rows):
    other = opened("other", sensors="3", duration="40min", sample_period="7s")
    replay, splits = Replay([NARROW, other], step_rows), []
    position = replay.start()
    while not position["done"]:
        position, before = replay.next(position), position
        splits += [split for split in replay.splits(before, position) if split.source == "traffic"]
    assert in_order(joined(NARROW, splits)[0]) == in_order(whole(NARROW)[0])


def test_units_read_one_by_one_are_those_read_together():
    one_by_one = [Split("traffic", "traffic-1", unit, unit + 1) for unit in range(UNITS)]
    assert joined(NARROW, one_by_one) == joined(NARROW, [Split("traffic", "traffic-1", 0, UNITS)])


@pytest.mark.parametrize("groups", [1, 2, 3])
def test_readings_do_not_depend_on_the_number_of_lanes(groups):
    road = opened(sensors="10", duration="1min")
    assert in_order(whole(replace(road, groups=groups))[0]) == in_order(whole(road)[0])


def test_a_source_that_travelled_reads_the_same():
    assert whole(pickle.loads(pickle.dumps(NARROW))) == whole(NARROW)


def test_another_seed_is_another_day():
    assert whole(opened(duration="1min", seed="2"))[0] != whole(opened(duration="1min"))[0]


def test_the_same_minute_looks_the_same_from_any_start():
    early = opened(duration="5min", sensors="8", missing="0", garbled="0")
    late = opened(duration="1min", sensors="8", missing="0", garbled="0", start_time="2000-06-05 06:04:00")
    assert in_order(whole(early)[0])[-60 * 32 :] == in_order(whole(late)[0])


def test_live_source_reads_what_the_bounded_one_does():
    live = opened(speedup="100")
    assert live.live
    assert not NARROW.live
    first_minute, _ = joined(live, [Split("traffic", f"traffic-{group}", 0, 60) for group in range(4)])
    assert first_minute == whole(opened(duration="1min"))[0]


def test_default_source_is_the_same_as_ever():
    readings, rejects = whole(opened(duration="10min"))
    assert (readings.num_rows, rejects.num_rows) == (75_922, 69)
    assert pc.sum(readings["flow"]).as_py() == 18_316


def test_readings_go_missing_as_often_as_asked():
    readings, rejects = whole(opened(duration="10min", missing="0.2"))
    assert 0.19 < 1 - (readings.num_rows + rejects.num_rows) / (600 * 128) < 0.21


def test_nothing_is_lost_where_nothing_goes_missing():
    readings, rejects = whole(opened(duration="10min", missing="0", disorder="10s"))
    assert readings.num_rows + rejects.num_rows == 600 * 128


def test_speed_and_length_are_null_where_no_vehicle_passed():
    readings, _ = whole(opened(duration="10min"))
    idle = pc.equal(readings["flow"], 0)
    assert pc.is_null(readings["speed"]) == pc.is_null(readings["length"]) == idle
    assert 0.6 < pc.mean(idle.cast(pa.int32())).as_py() < 0.85


def test_garbled_readings_are_dead_letters_with_a_reason():
    _, rejects = whole(opened(duration="10min", garbled="0.1", missing="0"))
    assert 0.09 < rejects.num_rows / (600 * 128) < 0.11
    assert pc.all(pc.match_substring_regex(rejects["reason"], r"^speed is garbled: '[0-9]?#[0-9.]*'$")).as_py()
    line = r"^2000-06-05 06:0[0-9:.]+,[1-4],i80-[ew]-0[1-8]-[ud],[0-9]?#[0-9.]*,[0-9]+$"
    assert pc.all(pc.match_substring_regex(rejects["reading"], line)).as_py()


def test_without_disorder_readings_come_in_order_of_time():
    readings, _ = joined(opened(duration="10min"), [Split("traffic", "traffic-0", 0, 4)])
    assert (np.diff(readings["ts"].cast(pa.int64()).to_numpy()) >= 0).all()


def test_disorder_changes_the_order_within_its_bound_and_nothing_else():
    disordered, tidy = opened(duration="10min", disorder="3s"), opened(duration="10min")
    times = joined(disordered, [Split("traffic", "traffic-0", 0, 4)])[0]["ts"].cast(pa.int64()).to_numpy()
    behind = np.maximum.accumulate(times) - times
    assert behind.max() == 3_000_000
    assert in_order(whole(disordered)[0]) == in_order(whole(tidy)[0])


def test_batches_are_large():
    batches = list(opened(duration="2h").read(Split("traffic", "traffic-0", 0, 47)))
    assert [batch.readings.num_rows > 100_000 for batch in batches] == [True, False]


def test_only_declared_columns_come_in_their_order():
    schema = pa.schema({"flow": pa.int32(), "sensor": pa.string()})
    assert whole(opened(schema=schema, duration="1s"))[0].schema == schema


def test_unknown_column_lists_the_known_ones():
    with pytest.raises(
        SourceError, match="unknown column 'velocity' of simulated source traffic; it has sensor VARCHAR, ts"
    ):
        opened(schema=pa.schema({"velocity": pa.float64()}))


def test_wrong_type_names_the_right_one():
    with pytest.raises(SourceError, match=r"column speed of .* is DOUBLE; it was declared INT"):
        opened(schema=pa.schema({"speed": pa.int32()}))


def test_unknown_lane_lists_the_known_ones():
    with pytest.raises(SourceError, match="unknown lane 'traffic-9' of traffic; it has traffic-0, traffic-1"):
        list(NARROW.read(Split("traffic", "traffic-9", 0, 1)))


def test_sensors_are_loops_with_tags_and_a_place():
    sensor = opened().sensors()[11]
    assert (sensor.name, sensor.kind, sensor.source) == ("i80-w-03-d", "loop", "traffic")
    assert sensor.tags == ("i80", "west", "downstream")
    assert (sensor.latitude, sensor.longitude) == pytest.approx((37.85, -122.30), abs=0.01)
