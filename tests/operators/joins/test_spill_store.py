import gc
from pathlib import Path

import pytest

from skerry.errors import LimitError, RunError
from skerry.operators.joins.spill_store import FolderSpill
from skerry.testing.memory_spill import MemorySpill


@pytest.fixture(params=["folder", "memory"])
def spill(request, tmp_path):
    return FolderSpill(tmp_path / "deep" / "down") if request.param == "folder" else MemorySpill()


def test_blob_is_given_back_as_often_as_asked(spill):
    spill.put("0", b"abc")
    assert (spill.get("0"), spill.get("0")) == (b"abc", b"abc")


def test_bytes_are_counted_also_of_what_is_dropped(spill):
    spill.put("0", b"abc")
    spill.drop("0")
    spill.put("1", b"de")
    assert spill.bytes_written == 5


def test_folder_is_made_for_the_first_blob_and_gone_after_the_last(tmp_path: Path):
    spill = FolderSpill(tmp_path / "mine")
    assert not list(tmp_path.iterdir())
    spill.put("0", b"abc")
    spill.put("1", b"abc")
    spill.drop("0")
    assert [file.name for file in (tmp_path / "mine").iterdir()] == ["1"]
    spill.drop("1")
    assert not list(tmp_path.iterdir())


def test_files_of_a_store_that_nobody_uses_are_gone(tmp_path: Path):
    spill = FolderSpill(tmp_path / "mine")
    spill.put("0", b"abc")
    del spill
    gc.collect()
    assert not list(tmp_path.iterdir())


def test_stores_do_not_touch_each_other(tmp_path: Path):
    one, other = FolderSpill(tmp_path / "one"), FolderSpill(tmp_path / "other")
    one.put("0", b"1")
    other.put("0", b"2")
    one.drop("0")
    assert other.get("0") == b"2"


def test_folder_that_cannot_be_written_stops_the_view(tmp_path: Path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(LimitError, match=r"cannot spill to .*/file/mine: Not a directory"):
        FolderSpill(tmp_path / "file" / "mine").put("0", b"abc")


def test_file_that_somebody_took_away_is_reported(tmp_path: Path):
    spill = FolderSpill(tmp_path / "mine")
    spill.put("0", b"abc")
    (tmp_path / "mine" / "0").unlink()
    with pytest.raises(RunError, match="mine/0 cannot be read again: No such file"):
        spill.get("0")
