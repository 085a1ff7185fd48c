"""What the planner sees of text files without reading them."""

from datetime import datetime, timedelta

import pytest

from skerry.model.time import START_OF_TIME
from tests.sources.file.stored import opened

START = datetime(2026, 1, 1)
COLUMNS = {"ts": "TIMESTAMP", "speed": "DOUBLE"}


def moment(second: int) -> int:
    return round((START + timedelta(seconds=second) - datetime(1970, 1, 1)).total_seconds() * 1_000_000)


def lane_of(tmp_path, lines, block_bytes=1 << 20, **how):
    path = tmp_path / "a.csv"
    path.write_text("\n".join(["ts,speed", *lines]) + "\n")
    return opened(path, COLUMNS, block_bytes=block_bytes, **how).lanes()[0]


def readings(*seconds):
    return [f"{START + timedelta(seconds=second)},61.5" for second in seconds]


def test_a_unit_begins_with_its_first_and_ends_with_its_last_reading(tmp_path):
    lane = lane_of(tmp_path, readings(3, 1, 9, 7))
    assert (lane.first(0), lane.last(0)) == (moment(3), moment(7))


def test_blocks_meet_at_lines(tmp_path):
    lane = lane_of(tmp_path, readings(*range(100)), block_bytes=300)
    firsts = [lane.first(unit) for unit in range(lane.count())]
    lasts = [lane.last(unit) for unit in range(lane.count())]
    assert firsts[0] == moment(0)
    assert firsts[1:] == [last + 1_000_000 for last in lasts[:-1]]
    assert lasts[-1] == moment(99)


def test_weight_is_about_the_number_of_lines(tmp_path):
    lane = lane_of(tmp_path, readings(*range(1_000)), block_bytes=5_000)
    assert sum(lane.weight(unit) for unit in range(lane.count())) == pytest.approx(1_000, rel=0.01)


def test_broken_lines_at_the_ends_are_passed_over(tmp_path):
    lane = lane_of(tmp_path, ["x", "x,y,z", *readings(1, 2), '"', "never,1"])
    assert (lane.first(0), lane.last(0)) == (moment(1), moment(2))


def test_a_unit_of_garbage_lies_at_the_end_of_the_one_before(tmp_path):
    lane = lane_of(tmp_path, [*readings(1, 2), *["garbage"] * 40, *readings(3)], block_bytes=60)
    assert {lane.last(unit) for unit in range(1, lane.count() - 1)} == {moment(2)}
    assert lane.last(lane.count() - 1) == moment(3)


def test_a_file_of_garbage_comes_first(tmp_path):
    lane = lane_of(tmp_path, ["garbage"] * 2_000, block_bytes=64)
    assert lane.last(lane.count() - 1) == START_OF_TIME


def test_blocks_inside_one_long_line_lie_where_it_begins(tmp_path):
    lane = lane_of(tmp_path, [*readings(1), "x" * 10_000, *readings(5)], block_bytes=1_000)
    assert [lane.first(unit) for unit in (0, 5)] == [moment(1), moment(1)]
    assert lane.last(lane.count() - 1) == moment(5)


def test_unusual_times_are_peeked_at_too(tmp_path):
    lane = lane_of(tmp_path, ["2026-1-1 0:00:07,1"])
    assert lane.first(0) == moment(7)


def test_units_without_an_event_time_come_first_and_in_order(tmp_path):
    lane = lane_of(tmp_path, readings(*range(100)), block_bytes=500, event_time=None)
    firsts = [lane.first(unit) for unit in range(lane.count())]
    assert firsts == [lane.last(unit) for unit in range(lane.count())] == sorted(set(firsts))
    assert firsts[-1] < -(10**18)


def test_json_lines_are_peeked_at(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"ts": "2026-01-01T00:00:01Z"}\n{"ts": 5}\n[]\n{\n')
    lane = opened(path, COLUMNS).lanes()[0]
    assert (lane.first(0), lane.last(0)) == (moment(1), moment(1))
