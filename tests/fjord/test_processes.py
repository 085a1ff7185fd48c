"""Operators of one Fjord in several processes: the same answers, whichever of them is killed."""

import gc
import os
import random
import signal
import socket
import subprocess
import sys
import time
import weakref
from contextlib import suppress
from pathlib import Path
from threading import Thread
from types import SimpleNamespace

import pytest

import skerry
from skerry.catalog import Catalog
from skerry.database import Database
from skerry.errors import OptionError, RunError
from skerry.fjord import checkpoint, runtime
from skerry.fjord.controller import CHANGES, DONE, Controller, pack_view, unpack_blobs
from skerry.fjord.other_process import OtherProcess
from skerry.fjord.queues.message import Advance, Note, Rows
from skerry.fjord.queues.pipe import PipeClosed, PipeReader, PipeWriter
from skerry.fjord.queues.transactional import TransactionalWriter
from skerry.model.time import END_OF_TIME
from tests.fjord.given import MEAN, batch, views
from tests.fjord.many_views import FEW_VIEWS, MANY_VIEWS, Run, lay_out


def soak(test):
    """Several processes, each of which takes seconds to start."""
    return pytest.mark.soak(pytest.mark.timeout(600)(test))


@pytest.fixture(scope="module", autouse=True)
def _quick():
    """Do not wait for the disk, for no power is lost here; save after every second step."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)
        due = iter(range(10**9))
        patch.setattr(checkpoint.Checkpoint, "is_due", lambda self: next(due) % 2 == 1)
        yield


@pytest.fixture(scope="module")
def laid_out(tmp_path_factory) -> Run:
    return lay_out(tmp_path_factory.mktemp("runs"), script=MANY_VIEWS)


@pytest.fixture(scope="module")
def whole(laid_out) -> dict[str, list[bytes]]:
    run = Run(laid_out.folder, laid_out.script, out="whole")
    run.go()
    return read(run)


def read(run: Run) -> dict[str, list[bytes]]:
    return {name: sorted(part.splitlines()) for name, part in run.answers().items()}


def find_others() -> list[int]:
    """The processes that this one has started for views."""
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    return [int(pid) for pid in children if b"skerry.fjord.controller" in Path(f"/proc/{pid}/cmdline").read_bytes()]


def test_answers_of_three_processes_are_those_of_one(laid_out, whole):
    run, seen = Run(laid_out.folder, laid_out.script, out="three", processes=3), []
    run.go(watch=lambda total: seen.append(len(find_others())))
    assert read(run) == whole
    assert set(seen) == {2}
    assert not find_others()


class InThread:
    """A controller in a thread of this process, in place of a process: it dies when its pipe is cut."""

    def __init__(self, folder: Path) -> None:
        self.ours, self._theirs = socket.socketpair()
        self._thread = Thread(target=self._work, args=[folder])
        self._thread.start()

    pid = 0

    def _work(self, folder):
        with self._theirs, suppress(PipeClosed):
            Controller(folder, PipeReader(self._theirs), PipeWriter(self._theirs)).run()

    def kill(self):
        with suppress(OSError):
            self._theirs.shutdown(socket.SHUT_RDWR)

    def wait(self):
        self._thread.join()
        return -signal.SIGKILL


@pytest.mark.parametrize("seed", range(3))
def test_whenever_a_process_dies_another_takes_its_place_and_nothing_is_lost_or_doubled(
    laid_out, whole, monkeypatch, seed
):
    """Dead while rows go to it, between steps, while it is asked for its state, and while it is made good for."""
    run, dice = Run(laid_out.folder, laid_out.script, out=f"died{seed}", processes=3), random.Random(seed)
    died = []

    def launch(process):
        process._process = InThread(process._folder)
        process._connect(process._process.ours)

    def die_sometimes(name, odds):
        real = getattr(OtherProcess, name)

        def call(process, *given):
            if dice.random() < odds and died[-2:] != [(name, process)] * 2:
                process._process.kill()
                died.append((name, process))
            return real(process, *given)

        monkeypatch.setattr(OtherProcess, name, call)

    monkeypatch.setattr(OtherProcess, "_launch", launch)
    for name, odds in (("put", 0.02), ("take_changes", 0.05), ("take_answers", 0.02), ("_drop_answered", 0.1)):
        die_sometimes(name, odds)
    run.go()
    assert len({name for name, _ in died}) > 2
    assert read(run) == whole


@soak
def test_killed_process_is_replaced(laid_out, whole, monkeypatch):
    """As above, with processes and a signal that none of them can do anything about."""
    run, dice, kills = Run(laid_out.folder, laid_out.script, out="killed", processes=2), random.Random(8), 8
    killed = []

    def kill_sometimes(name, odds):
        real = getattr(OtherProcess, name)

        def call(process, *given):
            if dice.random() < odds and len(killed) < kills:
                os.kill(process.pid, signal.SIGKILL)
                killed.append(name)
            return real(process, *given)

        monkeypatch.setattr(OtherProcess, name, call)

    for name, odds in (("put", 0.01), ("take_changes", 0.05), ("take_answers", 0.02)):
        kill_sometimes(name, odds)
    run.go()
    assert len(killed) == kills
    assert read(run) == whole
    assert not find_others()


@soak
def test_killed_first_process_takes_the_other_with_it_and_the_run_goes_on(laid_out, whole):
    run = Run(laid_out.folder, laid_out.script, out="first", processes=2)
    program = (
        "import sys, time; from pathlib import Path; from tests.fjord.many_views import Run, MANY_VIEWS\n"
        "from tests.fjord.test_processes import find_others\n"
        "def tell(total):\n"
        "    print(total.batches, *find_others(), flush=True)\n"
        "    time.sleep(600 if total.batches == 5 else 0)\n"
        "Run(Path(sys.argv[1]), MANY_VIEWS, out='first', processes=2).go(watch=tell)"
    )
    process = subprocess.Popen([sys.executable, "-c", program, str(run.folder)], stdout=subprocess.PIPE, text=True)
    for line in process.stdout:
        steps, other = map(int, line.split())
        if steps == 5:
            break
    process.kill()
    process.communicate()
    while is_alive(other):
        time.sleep(0.01)
    run.go()
    assert read(run) == whole


def is_alive(pid):
    """Whether a process does anything any more."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_process_that_dies_in_a_run_without_a_checkpoint_ends_it_with_the_reason(tmp_path):
    lay_out(tmp_path)
    database = Database(Catalog.in_memory(), tmp_path)
    database.execute(FEW_VIEWS)
    settings = skerry.Settings("fjord", step_rows=50, processes=2)

    def kill(total):
        for pid in find_others():
            os.kill(pid, signal.SIGKILL)

    with pytest.raises(RunError, match=r"process [0-9]+ of this run has died \(signal 9\); with --checkpoint"):
        database.run(skerry.MemorySink(), settings, watch=kill)


def test_number_of_processes_is_checked():
    with pytest.raises(OptionError, match="1 to 64 processes"):
        skerry.Settings("fjord", processes=0)
    with pytest.raises(OptionError, match="the spark runtime has no processes"):
        skerry.Settings("spark", processes=2)


def test_functions_in_python_stay_in_one_process(laid_out, monkeypatch):
    monkeypatch.setattr(runtime, "list_functions", lambda: [SimpleNamespace(name="dew_point")])
    with pytest.raises(OptionError, match=r"in this process alone \(dew_point\)"):
        Run(laid_out.folder, laid_out.script, out="functions", processes=2).go()


def test_controller_does_what_it_is_told_and_keeps_nothing_of_a_stopped_view(tmp_path):
    (view,) = views(MEAN)
    ours, theirs = socket.socketpair()
    notes, answers, rows = PipeWriter(ours), PipeReader(ours), TransactionalWriter(tmp_path)
    controller = Controller(tmp_path, PipeReader(theirs), PipeWriter(theirs))
    thread = Thread(target=controller.run)
    thread.start()
    clock = {"newest": {}, "heard": {}, "failure": None}
    notes.put(Note("begin", {"position": 0}))
    for number in (0, 1):
        notes.put(Note("start", {"view": number, "streams": [number], **clock}))
        notes.put(pack_view(view, {}))
    route = view.feeds[0].build_route()
    for stream in (0, 1):
        rows.put(Rows(route.transition(batch([(1, 0, 2.0), (2, 0, 4.0)])), stream))
    notes.put(Note("look"))
    kept = weakref.ref(controller._views[0]) if wait_for(lambda: len(controller.views) == 2) else None
    notes.put(Note("changes"))
    for number in (0, 1):
        assert answers.wait() == Note(CHANGES, {"view": number, "drop": []})
        assert unpack_blobs(answers.wait())
    notes.put(Note("stop", {"view": 0}))
    rows.put(Rows(route.transition(batch([(3, 0, 9.0)])), 0))
    rows.put(Advance(newest={"road": END_OF_TIME}, heard={"road": 2}))
    notes.put(Note("look"))
    found = answers.wait()
    assert (found.stream, found.batch.column("n").to_pylist()) == (1, [2])
    assert answers.wait() == Note(DONE, {"1": {"failure": None, "figures": {}}})
    ours.close()
    thread.join()
    gc.collect()
    assert controller.views == (1,)
    assert kept is not None
    assert kept() is None
    assert set(controller._streams.values()) == {(1, 0)}
    rows.close()
    theirs.close()


def wait_for(is_so):
    while not is_so():
        time.sleep(0.01)
    return True
