"""A run that breaks off and is started again gives what an undisturbed run gives, byte for byte."""

import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from skerry.fjord import checkpoint
from tests.fjord.many_views import FEW_VIEWS, MANY_VIEWS, Run, lay_out

_UNORDERED = ("by_mjoin", "by_amjoin")
"""Views whose rows within a step are in another order once their hash chains have been built anew."""


class Crash(BaseException):
    """The process ends here."""


@pytest.fixture(autouse=True)
def _fast(monkeypatch) -> None:
    """Save as often as there is a step, and do not wait for the disk: no power is lost here."""
    monkeypatch.setattr(checkpoint, "_EVERY_SECONDS", 0.0)
    monkeypatch.setattr(checkpoint, "_LEAST_REST", 0)
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


@pytest.fixture(scope="module")
def laid_out(tmp_path_factory) -> Run:
    return lay_out(tmp_path_factory.mktemp("runs"))


def named(run: Run, name: str) -> Run:
    """A run over the same input, since dead letters name the file, with a checkpoint and answers of its own."""
    return Run(run.folder, run.script, run.format, name)


def read(run: Run) -> dict[str, bytes]:
    found = run.answers()
    return {
        name: b"\n".join(sorted(part.splitlines())) if name.startswith(_UNORDERED) else part
        for name, part in found.items()
    }


@pytest.fixture(scope="module")
def whole(laid_out) -> dict[str, bytes]:
    run = named(laid_out, "whole")
    run.go()
    return read(run)


def crash_at(monkeypatch, moment: int) -> None:
    """End at the n-th of all calls that change a file: half of them before it is done, the others after."""
    calls = iter(range(10**9))

    def break_off(module, name: str) -> None:
        real = getattr(module, name)

        def call(*given, **more):
            if (number := next(calls)) == moment and moment % 2:
                raise Crash
            found = real(*given, **more)
            if number == moment:
                raise Crash
            return found

        monkeypatch.setattr(module, name, call)

    break_off(os, "fsync")
    break_off(os, "replace")
    break_off(Path, "unlink")


def crash_often(run: Run, dice: random.Random, kills: int, every: int) -> None:
    """Break a run off so often, each time within some calls; then let it come to its end."""
    for kill in range(kills + 1):
        with pytest.MonkeyPatch.context() as patch:
            due: Iterator[int] = iter(range(10**9))
            patch.setattr(checkpoint.Checkpoint, "is_due", lambda self, due=due: next(due) % every == every - 1)
            if kill == kills:
                run.go()
                continue
            crash_at(patch, dice.randrange(60))
            with pytest.raises(Crash):
                run.go()


@pytest.mark.parametrize("every", [1, 50])
def test_run_that_breaks_off_again_and_again_gives_the_same(laid_out, whole, every):
    run = named(laid_out, f"cut-{every}")
    crash_often(run, random.Random(every), 3, every)
    assert read(run) == whole


@pytest.fixture(scope="module")
def many(tmp_path_factory) -> tuple[Run, dict[str, bytes]]:
    """Views of every kind, and what they answer."""
    run = lay_out(tmp_path_factory.mktemp("many"), script=MANY_VIEWS)
    run.go()
    return run, read(run)


@pytest.mark.soak
@pytest.mark.timeout(600)
@pytest.mark.parametrize("seed", range(12))
def test_views_of_every_kind_that_break_off_give_the_same(many, seed):
    dice = random.Random(seed)
    run = named(many[0], f"cut-{seed}")
    crash_often(run, dice, 4, dice.choice([1, 2, 3, 50]))
    assert read(run) == many[1]


def test_run_that_was_told_to_stop_goes_on(laid_out, whole):
    run = named(laid_out, "stopped")
    for steps in (1, 5):
        assert run.go(steps).batches == steps
    outcome = run.go()
    assert outcome.batches == run.go().batches == 13  # and once it is done, it does nothing
    empty = {name for name, part in read(run).items() if name not in whole and len(part.splitlines()) == 1}
    assert {name: part for name, part in read(run).items() if name not in empty} == whole


def test_run_that_is_told_to_stop_among_logged_steps_forgets_none(laid_out, whole, monkeypatch):
    run = named(laid_out, "stopped-again")
    monkeypatch.setattr(checkpoint.Checkpoint, "is_due", lambda self: False)

    def crash(total) -> None:
        if total.batches == 6:
            raise Crash

    with pytest.raises(Crash):
        run.go(watch=crash)
    run.go(2)
    [log] = (run.checkpoint / "steps").iterdir()
    assert log.read_bytes().count(b"\n") == 6
    run.go()
    assert {name: part for name, part in read(run).items() if name in whole} == whole


def test_steps_of_a_table_that_changed_since_are_done_again_with_the_old_one(tmp_path, monkeypatch):
    run = lay_out(tmp_path)
    monkeypatch.setattr(checkpoint.Checkpoint, "is_due", lambda self: False)

    def crash(total) -> None:
        if total.batches == 5:
            raise Crash

    with pytest.raises(Crash):
        run.go(watch=crash)
    before = {name: part for name, part in run.answers().items() if name.startswith("named/")}
    (tmp_path / "names.csv").write_text("segment,name\n0,elsewhere\n")
    run.go()
    after = {name: part for name, part in run.answers().items() if name.startswith("named/")}
    assert {name: after[name] for name in before} == before
    assert any(b"elsewhere" in part for part in after.values())


LIVE = """CREATE SOURCE road (sensor VARCHAR, ts TIMESTAMP, segment INT, speed DOUBLE,
  WATERMARK FOR ts AS ts - INTERVAL '2' SECOND) WITH (connector='sim', sensors='4', seed='3', speedup='600');
CREATE MATERIALIZED VIEW mean AS SELECT segment, window_start, AVG(speed) AS speed, COUNT(*) AS n
  FROM TUMBLE(road, ts, INTERVAL '5' SECOND) GROUP BY segment, window_start;
CREATE MATERIALIZED VIEW pairs AS SELECT a.ts, b.ts AS later FROM SLIDING(road, ts, INTERVAL '8' SECOND) AS a
  JOIN SLIDING(road, ts, INTERVAL '4' SECOND) AS b ON a.segment = b.segment AND floor(a.speed) = floor(b.speed);"""


def test_live_run_that_is_killed_changes_no_answer_and_gives_each_window_once(tmp_path):
    run = lay_out(tmp_path, script=LIVE)
    seen: dict[str, bytes] = {}
    for round_ in range(2):
        started = []

        def crash(total, round_=round_, started=started) -> None:
            started.append(total.batches)
            if len(started) == 8 + round_:
                raise Crash

        with pytest.raises(Crash):
            run.go(watch=crash)
        now = run.answers()
        assert {name: now[name] for name in seen} == seen
        seen = now
    lines = [line for name, part in seen.items() if name.startswith("mean/") for line in part.splitlines()[1:]]
    windows = [tuple(line.split(b",")[:2]) for line in lines]
    assert windows
    assert len(windows) == len(set(windows))


def _start(folder: Path, out: str) -> "subprocess.Popen[bytes]":
    main = "from skerry.cli import main; main()"
    options = ["--runtime", "fjord", "--format", "csv", "--batch-rows", "20", "--out", str(folder / out)]
    kept = ["--checkpoint", str(folder / f"{out}-checkpoint")]
    command = [sys.executable, "-c", main, "run", str(folder / "script.sql"), *options, *kept]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def _finish(process: "subprocess.Popen[bytes]") -> None:
    _, said = process.communicate(timeout=250)
    assert process.returncode in (0, 1), said  # 1: a view of the script has to stop, and that is said
    assert b"Traceback" not in said


def _kill_often(folder: Path, kills: int, script: str = FEW_VIEWS) -> None:
    run = lay_out(folder, script=script)
    (folder / "script.sql").write_text(run.script)
    _finish(_start(folder, "whole"))
    for _ in range(kills):
        process = _start(folder, "cut")
        parts = sum(1 for _ in (folder / "cut").rglob("part-*"))
        while process.poll() is None and sum(1 for _ in (folder / "cut").rglob("part-*")) < parts + 8:
            time.sleep(0.01)
        time.sleep(random.random() * 0.2)
        process.kill()
        process.communicate()
    _finish(_start(folder, "cut"))
    assert _read_rows(folder, "cut") == _read_rows(folder, "whole")


def _read_rows(folder: Path, out: str) -> dict[str, list[bytes]]:
    """The rows of each view in the order of the batches: which files were put together by then is a matter of time."""
    rows: dict[str, list[bytes]] = {}
    for name, part in Run(folder, out=out).answers().items():
        rows.setdefault(name.split("/")[0], []).extend(part.splitlines()[1:])
    return {view: sorted(found) if view in _UNORDERED else found for view, found in rows.items()}


def test_killed_process_goes_on_where_it_was(tmp_path):
    _kill_often(tmp_path, 1)


@pytest.mark.soak
@pytest.mark.timeout(600)
@pytest.mark.parametrize("round_", range(6))
def test_killed_process_goes_on_many_times(tmp_path, round_):
    _kill_often(tmp_path, 9, MANY_VIEWS)
