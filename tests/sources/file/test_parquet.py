from datetime import UTC, datetime
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skerry.errors import SourceError
from skerry.model.time import START_OF_TIME
from skerry.sources.file import parquet
from skerry.sources.source import Split
from tests.sources.file.stored import decoded, opened, readings, reasons

COLUMNS = {"ts": "TIMESTAMP", "speed": "DOUBLE"}
MOMENTS = [datetime(2026, 1, 1, 0, 0, second) for second in (3, 1, 2, 9)]


def written(tmp_path, row_group_size=2, write_statistics=True, **columns):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table(columns), path, row_group_size=row_group_size, write_statistics=write_statistics)
    return path


def micros(moment):
    return round(moment.replace(tzinfo=UTC).timestamp() * 1_000_000)


def test_row_groups_are_units_and_columns_come_in_declared_order(tmp_path):
    connector = opened(written(tmp_path, Speed=[1.0, 2.0, 3.0, 4.0], note=["x"] * 4, ts=MOMENTS), COLUMNS)
    [lane] = connector.lanes()
    assert (lane.count(), lane.weight(0)) == (2, 2)
    assert readings(connector) == [
        {"ts": moment, "speed": speed} for moment, speed in zip(MOMENTS, [1.0, 2.0, 3.0, 4.0], strict=True)
    ]


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("zone", [None, "Europe/Berlin"])
@pytest.mark.parametrize("statistics", [True, False])
def test_times_of_any_unit_become_microseconds_in_utc(tmp_path, unit, zone, statistics):
    times = pa.array([micros(moment) for moment in MOMENTS], pa.timestamp("us", zone)).cast(pa.timestamp(unit, zone))
    path = written(tmp_path, ts=times, speed=[1.0] * 4, write_statistics=statistics)
    connector = opened(path, COLUMNS)
    [lane] = connector.lanes()
    assert [row["ts"] for row in readings(connector)] == MOMENTS
    assert [lane.first(0), lane.last(0), lane.last(1)] == [micros(MOMENTS[index]) for index in (1, 0, 3)]


def test_times_stored_as_texts_are_read_and_peeked_at(tmp_path):
    connector = opened(written(tmp_path, ts=["2026-01-01T00:00:00Z", "soon"], speed=[1.0, 2.0]), COLUMNS)
    [lane] = connector.lanes()
    assert lane.first(0) == lane.last(0) == micros(datetime(2026, 1, 1))
    assert reasons(connector) == ["column ts: 'soon' is not TIMESTAMP"]


def test_a_row_group_without_times_comes_first(tmp_path):
    connector = opened(written(tmp_path, ts=pa.array([None], pa.timestamp("us")), speed=[1.0]), COLUMNS)
    assert connector.lanes()[0].first(0) == START_OF_TIME
    assert reasons(connector) == ["ts is missing"]


def test_a_row_that_does_not_fit_is_a_dead_letter_with_its_number(tmp_path):
    path = written(tmp_path, ts=MOMENTS, lane=[1.0, 2.0, 2.5, None])
    connector = opened(path, {"ts": "TIMESTAMP", "lane": "INT"})
    [letter] = [letter for unit in decoded(connector) for letter in unit.rejects.to_pylist()]
    assert letter == {
        "reason": "column lane: '2.5' is not INT",
        "reading": '{"ts": "2026-01-01 00:00:02.000000", "lane": "2.5"}',
        "place": f"{path}:row 3",
    }
    assert [row["lane"] for row in readings(connector)] == [1, 2, None]


def test_a_time_out_of_range_is_rejected(tmp_path):
    times = pa.array([2**63 - 1, 0], pa.timestamp("us"))
    connector = opened(written(tmp_path, ts=times, speed=[1.0, 2.0]), COLUMNS)
    assert reasons(connector) == [
        "column ts: '<value out of range: 9223372036854775807>' is out of range, 1900 to 2262"
    ]


def test_a_missing_column_is_told_when_the_source_is_opened(tmp_path):
    with pytest.raises(SourceError, match=r"a\.parquet has no column 'speed'; it has ts"):
        opened(written(tmp_path, ts=MOMENTS), COLUMNS)


def test_a_type_that_cannot_be_cast_is_told_when_the_source_is_opened(tmp_path):
    path = written(tmp_path, ts=[1, 2], speed=[1.0, 2.0])
    with pytest.raises(SourceError, match=r"column ts of .*a\.parquet is BIGINT, which cannot be read as TIMESTAMP"):
        opened(path, COLUMNS)


@pytest.mark.parametrize("damage", [lambda data: b"", lambda data: data[:-20], lambda data: b"hello" * 99])
def test_a_damaged_footer_is_told_when_the_source_is_opened(tmp_path, damage):
    path = written(tmp_path, ts=MOMENTS, speed=[1.0] * 4)
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(SourceError, match=r"cannot read .*a\.parquet"):
        opened(path, COLUMNS)


def test_a_damaged_row_group_is_told_when_it_is_read(tmp_path):
    path = written(tmp_path, ts=MOMENTS, speed=[1.0] * 4)
    data = bytearray(path.read_bytes())
    data[4:60] = b"\xff" * 56
    path.write_bytes(data)
    with pytest.raises(SourceError, match=r"cannot read .*a\.parquet"):
        readings(opened(path, COLUMNS))


def test_a_file_without_rows_has_no_units(tmp_path):
    connector = opened(
        written(tmp_path, ts=pa.array([], pa.timestamp("us")), speed=pa.array([], pa.float64())), COLUMNS
    )
    assert readings(connector) == []


def pieces(connector, *cuts):
    """The row groups one after the other, each cut at some moments."""
    [lane] = connector.lanes()
    ends = list(pairwise([None, *sorted(cuts), None]))
    splits = [Split("s", lane.name, unit, unit + 1, *end) for unit in range(lane.count()) for end in ends]
    return [piece for split in splits for piece in connector.read(split)]


def test_of_a_row_group_that_is_cut_what_arrives_later_is_not_decoded(tmp_path):
    times = pa.array(range(200_000), pa.timestamp("us"))
    connector = opened(written(tmp_path, ts=times, speed=np.zeros(200_000), row_group_size=200_000), COLUMNS)
    [lane] = connector.lanes()
    assert lane.decode_until(0, 100).readings.num_rows == 1 << 16
    assert [piece.readings.num_rows for piece in pieces(connector, 99)] == [100, 199_900]


@pytest.mark.parametrize("times", [[1, None, 3, 9], [1, 2**62, 3, 9]])
def test_a_row_group_that_may_hold_dead_letters_is_decoded_whole(tmp_path, times):
    connector = opened(written(tmp_path, ts=pa.array(times, pa.timestamp("us")), speed=[1.0] * 4), COLUMNS)
    found = pieces(connector, 0)
    assert [piece.rejects.num_rows for piece in found] == [1, 0, 0, 0]
    assert [piece.readings.num_rows for piece in found] == [0, 1, 0, 2]


@given(
    times=st.lists(st.none() | st.integers(-20, 20) | st.just(2**62), min_size=1, max_size=12),
    cuts=st.sets(st.integers(-25, 25), max_size=3),
    unit=st.sampled_from(["us", "ns"]),
    rows=st.integers(1, 5),
    statistics=st.booleans(),
)
def test_pieces_of_row_groups_make_up_the_whole_once(tmp_path_factory, times, cuts, unit, rows, statistics):
    ticks = pa.array(times, pa.timestamp("us")).cast(pa.timestamp(unit), safe=False)
    speeds = [float(number) for number in range(len(times))]
    path = written(tmp_path_factory.mktemp("pieces"), rows, statistics, ts=ticks, speed=speeds)
    connector = opened(path, COLUMNS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parquet, "_PIECE_ROWS", 2)
        found = pieces(connector, *cuts)
    assert [row for piece in found for row in piece.readings.to_pylist()] == readings(connector)
    assert [letter["reason"] for piece in found for letter in piece.rejects.to_pylist()] == reasons(connector)
