import subprocess
import sys

import pytest

from skerry.errors import RunError
from skerry.model import folder_lock
from skerry.model.folder_lock import FolderLock

HOLD = """import sys; from pathlib import Path; from skerry.model.folder_lock import FolderLock
FolderLock(Path(sys.argv[1]), "checkpoint"); print("held", flush=True); input()"""


def test_folder_is_free_again_once_it_is_released(tmp_path):
    FolderLock(tmp_path, "checkpoint").release()
    FolderLock(tmp_path, "checkpoint").release()


def test_folder_that_this_process_holds_is_refused(tmp_path):
    lock = FolderLock(tmp_path, "checkpoint")
    with pytest.raises(RunError, match=r"the checkpoint '.*' is in use by process"):
        FolderLock(tmp_path, "checkpoint")
    lock.release()


def test_folder_that_another_process_holds_is_refused_until_it_is_killed(tmp_path, monkeypatch):
    monkeypatch.setattr(folder_lock, "_PATIENCE_SECONDS", 0.0)
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path)], **pipes) as holder:
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(RunError, match=f"in use by process {holder.pid}"):
            FolderLock(tmp_path, "checkpoint")
        holder.kill()
    FolderLock(tmp_path, "checkpoint").release()
