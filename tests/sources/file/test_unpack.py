"""Compressed text files give what the text in them gives, in blocks of any size."""

import gzip
from dataclasses import replace

import pyarrow as pa
import pytest

from skerry.catalog import Source
from skerry.errors import SourceError
from skerry.sources.file import FileConnector
from skerry.sources.source import Split

SCHEMA = pa.schema({"ts": pa.timestamp("us"), "n": pa.int64()})
LINES = [f"2026-01-01 00:{number // 60:02}:{number % 60:02},{number if number % 7 else 'x'}" for number in range(300)]
TEXT = "\n".join(["ts,n", *LINES]).encode() + b"\n"
PACK = {
    ".gz": lambda text: gzip.compress(text[:1000]) + gzip.compress(text[1000:]),
    ".zst": lambda text: pa.compress(text, "zstd", asbytes=True),
}


def connect(folder, pattern):
    definition = Source("s", SCHEMA, "file", {"path": pattern}, event_time="ts")
    return replace(FileConnector.open(definition, folder), block_bytes=700)


def read(connector):
    """Readings, dead letters, and times of units, of the only file."""
    [lane] = connector.lanes()
    parts = list(connector.read(Split("s", lane.name, 0, lane.count())))
    ends = [(lane.first(unit), lane.last(unit)) for unit in range(lane.count())]
    rows = [row for part in parts for row in part.readings.to_pylist()]
    letters = [(row["reason"], row["place"].partition(":")[2]) for part in parts for row in part.rejects.to_pylist()]
    return rows, letters, ends


@pytest.mark.parametrize("suffix", PACK)
def test_compressed_file_is_read_as_the_text_in_it(tmp_path, suffix):
    (tmp_path / "a.csv").write_bytes(TEXT)
    (tmp_path / f"b.csv{suffix}").write_bytes(PACK[suffix](TEXT))
    plain, packed = read(connect(tmp_path, "a.csv")), read(connect(tmp_path, f"b.csv{suffix}"))
    assert packed == plain
    assert len(packed[2]) > 5
    assert len(packed[1]) == 43


@pytest.mark.parametrize("suffix", PACK)
def test_compressed_file_that_is_cut_off_is_refused_by_name(tmp_path, suffix):
    whole = PACK[suffix](TEXT * 50)
    (tmp_path / f"a.csv{suffix}").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(SourceError, match=f"cannot read .*a.csv{suffix}"):
        connect(tmp_path, f"a.csv{suffix}")


def test_compressed_file_that_changes_while_it_is_read_ends_the_run(tmp_path):
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(TEXT))
    connector = connect(tmp_path, "a.csv.gz")
    path.write_bytes(gzip.compress(TEXT) + b"more")
    with pytest.raises(SourceError, match=r"changed while it was read|cannot read"):
        read(connector)


def test_compressed_parquet_is_refused(tmp_path):
    (tmp_path / "a.parquet.gz").write_bytes(b"")
    with pytest.raises(SourceError, match="compressed twice"):
        connect(tmp_path, "a.parquet.gz")
