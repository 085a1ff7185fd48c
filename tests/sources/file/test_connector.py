import pickle
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skerry.errors import OptionError, SourceError
from skerry.sources.source import Split
from tests.sources.file.stored import HEADER, opened, readings, reasons

START = datetime(2026, 1, 1)


@pytest.fixture
def road(tmp_path):
    """A file of ten readings, a second apart, with a line of garbage behind each."""
    lines = [f"s{second},{START + timedelta(seconds=second)},1,2.5,true\ngarbage\n" for second in range(10)]
    (tmp_path / "road.csv").write_text(HEADER + "\n" + "".join(lines))
    return tmp_path / "road.csv"


def at(second: float) -> int:
    return round((START + timedelta(seconds=second) - datetime(1970, 1, 1)).total_seconds() * 1_000_000)


def test_files_are_lanes_in_the_order_of_their_paths(tmp_path):
    for name in ("b.csv", "a.csv", ".hidden.csv"):
        (tmp_path / name).write_text(HEADER)
    lanes = opened(tmp_path / "*.csv").lanes()
    assert [lane.name for lane in lanes] == [str(tmp_path / "a.csv"), str(tmp_path / "b.csv")]


def test_two_stars_look_into_directories(tmp_path):
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / "deep" / "er" / "a.CSV").write_text(HEADER)
    connector = opened(tmp_path / "x", path="**/*.CSV")
    assert [Path(lane.name).name for lane in connector.lanes()] == ["a.CSV"]


def test_a_name_with_brackets_is_itself(tmp_path):
    (tmp_path / "a[1].csv").write_text(HEADER)
    assert len(opened(tmp_path / "a[1].csv").lanes()) == 1


def test_a_pattern_without_a_match_is_told(tmp_path):
    with pytest.raises(SourceError, match=r"no file matches 'x\*\.csv'"):
        opened(tmp_path / "x*.csv")


def test_a_directory_is_told(tmp_path):
    (tmp_path / "traffic").mkdir()
    with pytest.raises(SourceError, match=r"no file matches 'traffic' in .*; it is a directory"):
        opened(tmp_path / "traffic")


def test_an_unknown_suffix_is_told(tmp_path):
    (tmp_path / "a.txt").touch()
    with pytest.raises(SourceError, match=r"a\.txt has an unknown suffix; known are \.csv, \.json, \.jsonl"):
        opened(tmp_path / "a.txt")


def test_mixed_formats_are_told(tmp_path):
    for name in ("a.csv", "a.parquet"):
        (tmp_path / name).touch()
    with pytest.raises(SourceError, match=r"'a\.\*' matches files of different formats: \.csv, \.parquet"):
        opened(tmp_path / "a.*")


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("separator", ";", "unknown option 'separator' of connector 'file'; it has delimiter, event_time_unit"),
        ("max_ahed", "1s", "did you mean 'max_ahead'"),
        ("delimiter", ";;", "option delimiter of connector 'file' must be one ASCII character"),
        ("header", "maybe", "option header of connector 'file' must be 'true' or 'false'; got 'maybe'"),
        ("max_line_bytes", "-1", "option max_line_bytes of connector 'file' must be a whole number"),
        ("path", "", "option path of connector 'file' is missing"),
    ],
)
def test_a_wrong_option_is_told(tmp_path, option, value, message):
    with pytest.raises(OptionError, match=message):
        opened(tmp_path / "a.csv", **{option: value})


def test_a_file_that_is_gone_is_told(road):
    connector = opened(road)
    road.unlink()
    with pytest.raises(SourceError, match=r"cannot read .*road\.csv: No such file or directory"):
        readings(connector)


def test_a_lane_that_is_not_there_is_told(road):
    with pytest.raises(SourceError, match="unknown lane 'x' of s; it has 1 files"):
        list(opened(road).read(Split("s", "x", 0, 1)))


def test_a_connector_travels(road):
    connector = opened(road)
    there = pickle.loads(pickle.dumps(connector))
    assert there == connector
    assert readings(there) == readings(connector)


def test_blocks_are_smaller_where_there_are_many_files(tmp_path):
    for number in range(100):
        (tmp_path / f"{number}.csv").touch()
    assert opened(tmp_path / "0.csv").block_bytes == 8 << 20
    assert opened(tmp_path / "*.csv").block_bytes == (64 << 20) // 100


@settings(max_examples=60, deadline=None)
@given(cuts=st.lists(st.floats(-1, 11), max_size=4), block_bytes=st.sampled_from([50, 200, 1 << 20]))
def test_pieces_of_units_make_up_the_whole_once(tmp_path_factory, cuts, block_bytes):
    path = tmp_path_factory.mktemp("pieces") / "road.csv"
    path.write_text(HEADER + "".join(f"\ns{n},{START + timedelta(seconds=n % 7)},1,2.5,true\nx" for n in range(10)))
    connector = opened(path, block_bytes=block_bytes)
    [lane] = connector.lanes()
    moments = [None, *sorted({at(moment) for moment in cuts}), None]
    pieces = [
        piece
        for unit in range(lane.count())
        for after, until in pairwise(moments)
        for piece in connector.read(Split("s", lane.name, unit, unit + 1, after, until))
    ]
    assert [name for piece in pieces for name in piece.readings["sensor"].to_pylist()] == [f"s{n}" for n in range(10)]
    assert sum(piece.rejects.num_rows for piece in pieces) == 10


def test_a_split_cuts_its_first_and_last_unit_alone(road):
    connector = opened(road, block_bytes=200)
    [lane] = connector.lanes()
    pieces = list(connector.read(Split("s", lane.name, 0, lane.count(), after=at(1), until=at(8))))
    names = [name for piece in pieces for name in piece.readings["sensor"].to_pylist()]
    assert names == [f"s{second}" for second in range(2, 9)]
    assert pieces[0].rejects.num_rows == 0
    assert all(piece.rejects.num_rows for piece in pieces[1:])


def test_readings_have_exactly_the_declared_schema(road):
    connector = opened(road)
    [lane] = connector.lanes()
    [unit] = connector.read(Split("s", lane.name, 0, 1))
    assert unit.readings.schema == connector.definition.schema
    assert isinstance(unit.readings, pa.RecordBatch)


def test_garbage_does_not_touch_its_neighbours(road):
    connector = opened(road, block_bytes=100)
    assert len(readings(connector)) == 10
    assert reasons(connector) == ["has 1 fields, expected 5"] * 10
