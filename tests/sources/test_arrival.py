from itertools import pairwise

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from skerry.model.time import START_OF_TIME
from skerry.sources.arrival import cut, find_arrivals

moments = st.integers(-50, 50)
units = st.lists(st.none() | moments, max_size=20).map(
    lambda times: pa.record_batch({"ts": pa.array(times, pa.timestamp("us")), "row": range(len(times))})
)


@given(unit=units)
def test_a_reading_arrives_at_the_greatest_time_so_far(unit):
    times = unit["ts"].cast(pa.int64()).to_pylist()
    so_far = [[time for time in times[: row + 1] if time is not None] for row in range(len(times))]
    assert find_arrivals(unit, "ts").tolist() == [max(seen, default=START_OF_TIME) for seen in so_far]


@given(unit=units, cuts=st.lists(moments, max_size=4))
def test_pieces_between_cuts_make_up_the_unit_once(unit, cuts):
    ends = [None, *sorted(cuts), None]
    pieces = [cut(unit, "ts", after, until) for after, until in pairwise(ends)]
    assert [row for piece in pieces for row in piece["row"].to_pylist()] == list(range(unit.num_rows))


@given(unit=units, moment=moments)
def test_readings_without_an_event_time_all_arrive_at_the_start(unit, moment):
    assert cut(unit, None, None, moment).num_rows == unit.num_rows
    assert cut(unit, None, moment, None).num_rows == 0
