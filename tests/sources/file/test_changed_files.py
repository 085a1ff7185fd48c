"""Files that are not any more what they were when the source was opened."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from skerry.errors import SourceError
from skerry.sources.source import Split
from tests.sources.file.stored import opened

COLUMNS = {"row": "BIGINT"}


def text(first, count):
    return "row\n" + "".join(f"{row:09}\n" for row in range(first, first + count))


@pytest.fixture
def half_read(tmp_path):
    """A file of which a unit has been read, and what reads the next."""
    path = tmp_path / "a.csv"
    path.write_text(text(0, 1_000))
    units = opened(path, COLUMNS, None, block_bytes=1_000).read(Split("s", str(path), 0, 10))
    next(units)
    return path, units


def test_what_is_appended_is_not_read(half_read):
    path, units = half_read
    path.write_text(text(0, 2_000))
    assert next(units).readings.num_rows == 100


@pytest.mark.parametrize(
    ("now", "complaint"),
    [
        (text(0, 10), "has changed while it was read: it had 10004 bytes, now 104"),
        (text(5, 1_000), "has changed while it was read: it begins with other bytes"),
        ("", "it had 10004 bytes, now 0"),
    ],
)
def test_a_file_that_shrinks_or_is_another_is_an_error(half_read, now, complaint):
    path, units = half_read
    path.write_text(now)
    with pytest.raises(SourceError, match=complaint):
        next(units)


def test_a_file_that_is_removed_is_an_error(half_read):
    path, units = half_read
    path.unlink()
    with pytest.raises(SourceError, match=r"cannot read .*: No such file"):
        next(units)


def test_a_parquet_file_that_is_written_again_is_an_error(tmp_path):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"row": range(1_000)}), path, row_group_size=100)
    units = opened(path, COLUMNS, None).read(Split("s", str(path), 0, 10))
    next(units)
    pq.write_table(pa.table({"row": range(2_000)}), path, row_group_size=200)
    with pytest.raises(SourceError, match=r"a\.parquet"):
        list(units)
