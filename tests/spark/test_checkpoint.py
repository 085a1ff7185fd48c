import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from skerry.errors import InputError, RunError
from skerry.spark import checkpoint
from skerry.spark.checkpoint import Checkpoint


@pytest.fixture
def sleeper():
    """Another process, alive until the test ends it."""
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    yield process
    process.kill()
    process.communicate()


def claimed(folder, *processes: int) -> Checkpoint:
    """A checkpoint that these processes used last."""
    found = Checkpoint(folder, 2, "script")
    found.take(list(processes))
    return found


def holders(folder):
    found = Checkpoint(folder, 2, "script").files.read("processes.json")
    return [process for process, _ in json.loads(found)]


def test_first_run_starts_a_checkpoint(tmp_path):
    found = Checkpoint(tmp_path / "deep" / "er", 4, "script")
    assert not found.resumed
    assert found.layout.layout.bucket_count == 4
    assert (tmp_path / "deep" / "er" / "run.json").exists()


def test_units_stay_as_long_as_they_were_in_the_first_run(tmp_path):
    Checkpoint(tmp_path, 4, "script", unit_rows=100)
    assert Checkpoint(tmp_path, 4, "script", unit_rows=7).unit_rows == 100


def test_second_run_goes_on_with_the_first(tmp_path):
    first, second = Checkpoint(tmp_path, 4, "script"), Checkpoint(tmp_path, 4, "script")
    assert not second.resumed  # nothing has been delivered
    assert second.run == first.run


def test_number_of_buckets_stays_that_of_the_first_run(tmp_path):
    Checkpoint(tmp_path, 4, "script")
    assert Checkpoint(tmp_path, 16, "script").layout.layout.bucket_count == 4


def test_two_checkpoints_are_two_runs(tmp_path):
    assert Checkpoint(tmp_path / "a", 4, "script").run != Checkpoint(tmp_path / "b", 4, "script").run


def test_checkpoint_of_other_queries_is_refused(tmp_path):
    Checkpoint(tmp_path, 4, "script")
    told = r"the checkpoint '.*' belongs to other queries: it was begun with 'script', where now is 'another script'"
    with pytest.raises(InputError, match=told):
        Checkpoint(tmp_path, 4, "another script")


@pytest.mark.parametrize(
    ("now", "told"), [("a\nb", "'c', where now is 'nothing'"), ("a\nB\nc", "'b', where now is 'B'")]
)
def test_first_line_that_differs_is_told(tmp_path, now, told):
    Checkpoint(tmp_path, 4, "a\nb\nc")
    with pytest.raises(InputError, match=f"begun with {told}"):
        Checkpoint(tmp_path, 4, now)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="this system does not tell when a process started")
def test_checkpoint_of_a_process_whose_number_another_has_got_is_taken(tmp_path, sleeper):
    found = claimed(tmp_path, sleeper.pid)
    found.files.write("processes.json", json.dumps([(sleeper.pid, "1")]).encode())
    found.take([os.getpid()])
    assert holders(tmp_path) == [os.getpid()]


def test_damaged_list_of_processes_is_told_with_what_to_do(tmp_path):
    found = claimed(tmp_path, os.getpid())
    (tmp_path / "processes.json").write_text("[")
    with pytest.raises(InputError, match=r"cannot be told who uses the checkpoint; delete this file if no other run"):
        found.take([os.getpid()])


def test_checkpoint_that_is_a_file_is_told(tmp_path):
    (tmp_path / "kept").write_text("mine")
    with pytest.raises(InputError, match=r"cannot keep a checkpoint in '.*kept': there is a file, not a folder"):
        Checkpoint(tmp_path / "kept", 4, "script")


def test_checkpoint_is_claimed_for_the_processes_that_use_it(tmp_path):
    Checkpoint(tmp_path, 2, "script").take([11, 12])
    assert holders(tmp_path) == [11, 12]


def test_checkpoint_of_a_process_that_is_gone_is_taken(tmp_path, sleeper):
    found = claimed(tmp_path, sleeper.pid)
    sleeper.kill()
    sleeper.wait()
    found.take([os.getpid()])
    assert holders(tmp_path) == [os.getpid()]


def test_checkpoint_of_a_killed_process_that_nobody_has_asked_for_is_taken(tmp_path, sleeper):
    found = claimed(tmp_path, sleeper.pid)
    sleeper.kill()
    os.waitid(os.P_PID, sleeper.pid, os.WEXITED | os.WNOWAIT)  # it has ended, and stays a zombie
    found.take([os.getpid()])
    assert holders(tmp_path) == [os.getpid()]


def test_checkpoint_of_a_process_that_is_alive_is_refused(tmp_path, sleeper, monkeypatch):
    monkeypatch.setattr(checkpoint, "_PATIENCE_SECONDS", 0.0)
    with pytest.raises(RunError, match=rf"the checkpoint '.*' is in use by process {sleeper.pid}"):
        claimed(tmp_path, sleeper.pid).take([os.getpid()])
    assert holders(tmp_path) == [sleeper.pid]


def test_process_that_is_still_alive_is_named(tmp_path, sleeper, monkeypatch):
    monkeypatch.setattr(checkpoint, "_PATIENCE_SECONDS", 0.0)
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    with pytest.raises(RunError, match=f"in use by process {sleeper.pid}"):
        claimed(tmp_path, gone.pid, sleeper.pid).take([os.getpid()])


def test_process_that_is_about_to_end_is_waited_for(tmp_path, sleeper, monkeypatch):
    waits = []

    def wait(seconds):
        waits.append(seconds)
        sleeper.kill()
        sleeper.wait()

    monkeypatch.setattr(checkpoint.time, "sleep", wait)
    claimed(tmp_path, sleeper.pid).take([os.getpid()])
    assert len(waits) == 1
    assert holders(tmp_path) == [os.getpid()]


def test_process_may_take_its_own_checkpoint_again(tmp_path):
    claimed(tmp_path, os.getpid()).take([os.getpid()])
    assert holders(tmp_path) == [os.getpid()]
