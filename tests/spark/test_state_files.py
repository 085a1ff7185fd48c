import json
import struct
import zipfile
import zlib
from pathlib import Path

import pytest

from skerry.errors import CheckpointError
from skerry.spark.state_files import check_state, drop_undone

VERSION = 14


def write(path: Path, content: bytes = b"content") -> None:
    """A file as Hadoop leaves it, with its checksums beside it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    sums = [zlib.crc32(content[start : start + 512]) for start in range(0, len(content), 512)]
    path.with_name(f".{path.name}.crc").write_bytes(b"crc\0" + struct.pack(f">{len(sums) + 1}I", 512, *sums))


def write_snapshot(path: Path, *parts: str) -> None:
    with zipfile.ZipFile(path.with_name("made"), "w") as archive:
        listed = [{"localFileName": "000008.sst", "dfsSstFileName": part} for part in parts]
        archive.writestr("metadata", "v1\n" + json.dumps({"sstFiles": listed}))
    content = path.with_name("made").read_bytes()
    path.with_name("made").unlink()
    write(path, content)


@pytest.fixture
def bucket(tmp_path):
    """A bucket with two snapshots; the state of version 14 is the second and two changelogs."""
    bucket = tmp_path / "0" / "1"
    for number in range(1, 16):
        write(bucket / f"{number}.changelog", b"x" * 1000)
    for number in (1, 12):
        write(bucket / "SSTs" / f"{number}.sst")
        write_snapshot(bucket / f"{number}.zip", f"{number}.sst")
    return bucket


NEEDED = ["12.zip", "SSTs/12.sst", "13.changelog", "14.changelog"]


def test_whole_state_passes(bucket, tmp_path):
    check_state(tmp_path, VERSION, 2)


def test_what_was_not_done_is_removed_and_the_rest_stays(bucket, tmp_path):
    write_snapshot(bucket / "15.zip", "12.sst")
    before = {path.name for path in bucket.rglob("*") if path.is_file()}
    drop_undone(tmp_path, VERSION)
    gone = before - {path.name for path in bucket.rglob("*") if path.is_file()}
    assert gone == {"15.changelog", ".15.changelog.crc", "15.zip", ".15.zip.crc"}
    check_state(tmp_path, VERSION, 2)


def test_run_without_state_passes(tmp_path):
    check_state(tmp_path / "state", VERSION, 2)


@pytest.mark.parametrize("name", [name for name in NEEDED if name != "12.zip"])
def test_file_that_is_needed_and_missing_is_named(bucket, tmp_path, name):
    (bucket / name).unlink()
    with pytest.raises(CheckpointError, match=f"{name}' is missing"):
        check_state(tmp_path, VERSION, 2)


@pytest.mark.parametrize("name", NEEDED)
@pytest.mark.parametrize("content", [b"", b"half", b"y" * 1000])
def test_file_that_is_needed_and_damaged_is_named(bucket, tmp_path, name, content):
    (bucket / name).write_bytes(content)
    with pytest.raises(CheckpointError, match=f"{name}' is damaged"):
        check_state(tmp_path, VERSION, 2)


@pytest.mark.parametrize("name", ["1.zip", "SSTs/1.sst", "1.changelog", "12.changelog", "15.changelog"])
def test_file_that_is_not_needed_may_be_damaged(bucket, tmp_path, name):
    (bucket / name).write_bytes(b"")
    check_state(tmp_path, VERSION, 2)


def test_earlier_snapshot_serves_if_the_changes_since_are_there(bucket, tmp_path):
    (bucket / "12.zip").unlink()
    check_state(tmp_path, VERSION, 2)


def test_state_without_a_snapshot_is_refused(bucket, tmp_path):
    for path in bucket.glob("*.zip"):
        path.unlink()
    with pytest.raises(CheckpointError, match=r"1\.zip' is missing"):
        check_state(tmp_path, VERSION, 2)


def test_bucket_of_an_earlier_layout_is_not_needed(bucket, tmp_path):
    (bucket / "14.changelog").unlink()
    check_state(tmp_path, VERSION, 1)
