"""Clocks that are ahead, in files of all formats, however these are cut."""

import dataclasses
import tempfile
from datetime import datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skerry.catalog import Source
from skerry.model.time import Micros
from skerry.replay.replay import Replay
from skerry.sources.file import FileConnector
from tests.oracles.ahead import mark_ahead
from tests.sources.file.stored import decoded

START = datetime(2026, 1, 1)
SCHEMA = pa.schema({"ts": pa.timestamp("us"), "row": pa.int64()})
seconds = st.lists(st.integers(0, 40) | st.sampled_from([9_000, 90_000]), min_size=1, max_size=60)


def opened(folder, pattern="*.csv", max_ahead_s=None, **cut):
    most = None if max_ahead_s is None else Micros(max_ahead_s * 1_000_000)
    source = Source("s", SCHEMA, "file", {"path": pattern}, "ts", Micros(5_000_000), max_ahead_us=most)
    return dataclasses.replace(FileConnector.open(source, Path(folder)), **cut)


def write(path, rows, first=0):
    times = [START + timedelta(seconds=second) for second in rows]
    if path.suffix == ".csv":
        lines = [f"{time},{first + number}" for number, time in enumerate(times)]
        path.write_text("\n".join(["ts,row", *lines]) + "\n")
    elif path.suffix == ".jsonl":
        lines = [f'{{"ts": "{time}", "row": {first + number}}}' for number, time in enumerate(times)]
        path.write_text("\n".join(lines) + "\n")
    else:
        columns = [pa.array(times, pa.timestamp("us")), pa.array(range(first, first + len(times)))]
        pq.write_table(pa.Table.from_arrays(columns, schema=SCHEMA), path, row_group_size=7)


def accepted(connector):
    return [row for unit in decoded(connector) for row in unit.readings["row"].to_pylist()]


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
@given(rows=seconds, block_bytes=st.integers(20, 400), strict=st.booleans())
def test_what_is_ahead_does_not_depend_on_how_a_file_is_cut(suffix, rows, block_bytes, strict):
    far, near, most = (60, 60, 60) if strict else (86_400, 60, None)
    marks, _ = mark_ahead(rows, [], None, far, near, strict=strict)
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder) / f"a.{suffix}", rows)
        connector = opened(folder, f"a.{suffix}", most, block_bytes=block_bytes, unit_rows=block_bytes // 20)
        assert accepted(connector) == [row for row, mark in enumerate(marks) if not mark]


def test_a_reading_that_is_ahead_is_a_dead_letter_with_its_line(tmp_path):
    write(tmp_path / "a.csv", [1, 90_000, 2, 3])
    [letter] = [letter for unit in decoded(opened(tmp_path)) for letter in unit.rejects.to_pylist()]
    assert letter["reading"] == "2026-01-02 01:00:00,1"
    assert letter["place"] == f"{tmp_path}/a.csv:byte 29"
    assert "ahead of the readings before and after it" in letter["reason"]


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize("step_rows", [1, 5])
def test_a_lane_with_a_wrong_clock_keeps_step_with_the_others(tmp_path, suffix, step_rows):
    write(tmp_path / f"a.{suffix}", [*range(14), 90_000, *range(14, 28)])
    write(tmp_path / f"b.{suffix}", range(28), first=100)
    connector = opened(tmp_path, f"*.{suffix}", block_bytes=120)
    replay, latest, rows = Replay([connector], step_rows), {}, 0
    position = replay.start()
    while not position["done"]:
        following = replay.next(position)
        for split in replay.splits(position, following):
            for unit in connector.read(split):
                times = [(time - START).total_seconds() for time in unit.readings["ts"].to_pylist()]
                behind = max([-10, *(moment for lane, moment in latest.items() if lane != split.lane)])
                assert not times or max(times) >= behind - 10
                latest[split.lane], rows = max([latest.get(split.lane, -10), *times]), rows + len(times)
        position = following
    assert rows == 56
