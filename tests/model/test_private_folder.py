import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from skerry.model.private_folder import make_private_folder, remove_private_folder, remove_private_folders


@pytest.fixture(autouse=True)
def temporary(tmp_path, monkeypatch):
    """A temporary folder of this test alone."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    yield tmp_path
    remove_private_folders()


def other_process(temporary: Path) -> subprocess.Popen[str]:
    """A process that has a private folder with a file in it; its first line is where."""
    script = "from skerry.model.private_folder import make_private_folder as make; folder = make()\n"
    script += "(folder / 'file').touch(); print(folder, flush=True); input()"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    return subprocess.Popen(
        [sys.executable, "-c", script], env={**os.environ, "TMPDIR": str(temporary)}, text=True, **pipes
    )


def test_nobody_else_can_enter(temporary):
    assert make_private_folder().stat().st_mode & 0o777 == 0o700


def test_folder_is_removed_with_all_that_is_in_it(temporary):
    folder = make_private_folder()
    (folder / "deep").mkdir()
    (folder / "deep" / "file").touch()
    remove_private_folder(folder)
    assert list(temporary.iterdir()) == []


def test_folder_of_a_process_that_was_killed_is_swept_and_one_in_use_is_not(temporary):
    killed, alive = other_process(temporary), other_process(temporary)
    left, used = (Path(each.stdout.readline().strip()) for each in (killed, alive))
    killed.kill()
    killed.communicate()
    folder = make_private_folder()
    alive.kill()
    alive.communicate()
    assert (left.exists(), (used / "file").exists(), folder.exists()) == (False, True, True)


@pytest.mark.parametrize("name", ["skerry-runs", "skerry-new-a", "my-skerry-run-a"])
def test_what_is_called_otherwise_stays(temporary, name):
    (temporary / name).mkdir()
    make_private_folder()
    assert (temporary / name).exists()


def test_link_that_looks_like_a_folder_left_behind_is_not_followed(temporary):
    kept = temporary / "kept"
    kept.mkdir()
    (kept / "file").touch()
    (temporary / "skerry-run-x").symlink_to(kept)
    make_private_folder()
    assert (kept / "file").exists()
