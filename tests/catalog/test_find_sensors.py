from dataclasses import replace

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from skerry.catalog import Area, Catalog, Found, Point, Search, Sensor, SensorStatus
from skerry.catalog.similar_sensors import rank_similar
from skerry.model.time import Micros
from tests.oracles.find_sensors import distance_m, fits

latitudes = st.sampled_from([-90.0, -89.999, -45.0, 0.0, 0.001, 37.8, 89.995, 90.0])
longitudes = st.sampled_from([-180.0, -179.999, -122.3, 0.0, 0.002, 179.998, 180.0])
tags = st.sampled_from(["i80", "north", "a'b", '"q"', "%"])
sensors = st.builds(
    Sensor,
    st.sampled_from(["loop-1", "LOOP-2", "50%", "x_y", "vane"]),
    st.sampled_from(["road", "air"]),
    st.sampled_from(["loop", "vane"]),
    latitudes,
    longitudes,
    st.lists(tags, unique=True).map(tuple),
)
moments = st.integers(0, 5).map(Micros)
searches = st.builds(
    Search,
    st.lists(tags, max_size=2).map(tuple),
    st.none() | st.just("loop"),
    st.none() | st.just("road"),
    st.none() | st.sampled_from(["loop", "%", "_", "-2", "'"]),
    area=st.none() | st.builds(Area, latitudes, longitudes, latitudes, longitudes),
    seen_since_us=st.none() | moments,
    silent_since_us=st.none() | moments,
)


def entered(found, statuses=()):
    catalog = Catalog.in_memory()
    catalog.sensor_entries.enter(found)
    catalog.put_statuses(statuses)
    return catalog


@settings(max_examples=60, deadline=None)
@given(
    known=st.lists(sensors, max_size=8, unique_by=lambda sensor: (sensor.name, sensor.source)),
    seen=st.lists(st.none() | moments, min_size=8, max_size=8),
    search=searches,
    near=st.none() | st.tuples(st.builds(Point, latitudes, longitudes), st.sampled_from([0.0, 150.0, 5e3, 1e6, 3e7])),
)
def test_search_agrees_with_its_twin(known, seen, search, near):
    if near:
        search = replace(search, near=near[0], within_m=near[1])
        # Where a distance is the limit itself, the twin's rounding decides.
        assume(all(abs(distance_m(near[0], sensor) - near[1]) > 1e-3 for sensor in known))
    statuses = [
        SensorStatus(each.name, each.source, at) for each, at in zip(known, seen, strict=False) if at is not None
    ]
    catalog = entered(known, statuses)
    by_key = {(status.name, status.source): status for status in statuses}
    expected = {(each.name, each.source) for each in known if fits(search, each, by_key.get((each.name, each.source)))}
    found = catalog.find_sensors(search)
    assert {(each.sensor.name, each.sensor.source) for each in found} == expected
    assert len(found) == len(expected) == catalog.count_sensors(search)
    assert catalog.find_sensors(search, 2) == found[:2]
    catalog.close()


def test_nearest_sensor_comes_first():
    catalog = entered([Sensor("far", "road", "loop", 37.9, -122.3), Sensor("near", "road", "loop", 37.81, -122.3)])
    found = catalog.find_sensors(Search(near=Point(37.8, -122.3), within_m=20_000))
    assert [(each.sensor.name, round(each.distance_m or 0, -2)) for each in found] == [("near", 1100), ("far", 11100)]
    catalog.close()


def test_found_sensor_comes_with_its_status():
    status = SensorStatus("a", "road", Micros(5), online=True)
    catalog = entered([Sensor("a", "road", "loop")], [status])
    assert catalog.find_sensors(Search()) == [Found(Sensor("a", "road", "loop"), status)]
    catalog.close()


DEAD = Sensor("a", "road", "loop", 0.0, 0.0, columns=("speed",), relations=(("replaces", "old"),))


def similar(*others, columns=None, with_offline=False):
    found = [other if isinstance(other, Found) else Found(other) for other in others]
    ranked = rank_similar(DEAD, found, columns or {"road": ["speed"], "air": ["pm25"]}, with_offline=with_offline)
    return [each.sensor.name for each in ranked]


def loop(name, longitude=None, *relations, **known):
    return Sensor(name, "road", "loop", None if longitude is None else 0.0, longitude, relations=relations, **known)


def test_relations_come_before_distance():
    near, far, nowhere = loop("near", 0.1), loop("far", 0.2), loop("nowhere")
    pair, spare = loop("pair", 0.9, ("pair_of", "a")), loop("spare", 0.8, ("replaces", "a"))
    assert similar(nowhere, far, loop("old", 0.7), near, pair, spare, DEAD) == [
        *("spare", "pair", "old", "near", "far", "nowhere")
    ]


def test_sensor_of_another_kind_or_without_the_columns_is_no_alternative():
    assert similar(Sensor("b", "road", "radar"), loop("c", columns=("flow",)), Sensor("d", "air", "loop")) == []


def test_sensor_of_another_source_with_the_columns_is_an_alternative():
    assert similar(Sensor("d", "air", "loop"), columns={"air": ["speed", "pm25"]}) == ["d"]


def test_sensor_off_line_is_an_alternative_only_if_asked_for():
    off = Found(loop("b"), SensorStatus("b", "road", online=False))
    assert (similar(off), similar(off, with_offline=True)) == ([], ["b"])
