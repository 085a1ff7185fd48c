import os
from pathlib import Path

import pytest

from skerry.model.atomic_write import replace_atomically, sync, write_atomically


@pytest.fixture
def calls(monkeypatch):
    """What is asked of the disk, in order, by the names of files."""
    found = []

    def fsync(descriptor):
        found.append(("sync", Path(os.readlink(f"/proc/self/fd/{descriptor}")).name))

    def replace(before, after):
        found.append(("move", Path(after).name))
        rename(before, after)

    rename = os.replace
    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "replace", replace)
    return found


linux = pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="a descriptor has no name here")


@linux
def test_synced_file_is_on_the_disk_before_it_has_its_name_and_the_name_after(tmp_path, calls):
    write_atomically(tmp_path / "a", b"content", synced=True)
    assert calls == [("sync", f".a.{os.getpid()}"), ("move", "a"), ("sync", tmp_path.name)]


@linux
def test_file_is_not_waited_for_unless_that_is_asked_for(tmp_path, calls):
    write_atomically(tmp_path / "a", b"content")
    assert calls == [("move", "a")]


@linux
def test_many_files_are_synced_before_their_folders_and_each_folder_once(tmp_path, calls):
    paths = [tmp_path / folder / name for folder in ("one", "two") for name in ("a", "b")]
    for path in paths:
        path.parent.mkdir(exist_ok=True)
        path.touch()
    sync(paths)
    assert sorted(calls[:4]) == [("sync", "a"), ("sync", "a"), ("sync", "b"), ("sync", "b")]
    assert sorted(calls[4:]) == [("sync", "one"), ("sync", "two")]


def test_failed_writing_leaves_what_was_there(tmp_path):
    def fail(path):
        with replace_atomically(path) as beside:
            beside.write_text("half")
            raise OSError("full")

    (tmp_path / "a").write_text("before")
    with pytest.raises(OSError, match="full"):
        fail(tmp_path / "a")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("a", "before")]
