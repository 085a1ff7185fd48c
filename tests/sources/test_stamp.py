import pyarrow as pa

from skerry.model.arrival import ARRIVAL, LANE
from skerry.sources.arrival import Stamp


def readings(*times):
    return pa.record_batch({"ts": pa.array(times, pa.timestamp("us"))})


def test_reading_arrives_with_the_newest_before_it():
    assert Stamp("ts", "a").put_on(readings(3, 1, 5)).column(ARRIVAL).to_pylist() == [3, 3, 5]


def test_arrival_never_goes_back_from_unit_to_unit():
    stamp = Stamp("ts", "a")
    stamp.put_on(readings(9))
    assert stamp.put_on(readings(2, 10)).column(ARRIVAL).to_pylist() == [9, 10]


def test_lanes_are_told_apart_the_same_way_every_time():
    lanes = [Stamp("ts", lane).put_on(readings(1)).column(LANE).to_pylist() for lane in ("a", "b", "a")]
    assert lanes[0] == lanes[2] != lanes[1]


def test_empty_unit_is_stamped_too():
    assert Stamp("ts", "a").put_on(readings()).schema.names == ["ts", ARRIVAL, LANE]
