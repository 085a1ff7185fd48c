"""A run that goes on gives the answers of one that never stopped, or says why it cannot, and replaces nothing."""

import os
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import skerry
from skerry.database import Settings
from skerry.errors import InputError, RunError, SkerryError
from skerry.fjord import checkpoint
from skerry.pipeline.outcome import Outcome
from skerry.sinks.files import FileSink
from tests.fjord.many_views import FEW_VIEWS, Run, lay_out

STOPPED_AFTER = 6


class Crash(BaseException):
    """The process ends here."""


@pytest.fixture(scope="module", autouse=True)
def _no_disk():
    """Do not wait for the disk: no power is lost here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)
        yield


def break_off(run: Run) -> Run:
    """Run some steps, save after the third, and break off."""

    def crash(total) -> None:
        if total.batches == STOPPED_AFTER:
            raise Crash

    with pytest.MonkeyPatch.context() as patch:
        due = iter([False, False, True])
        patch.setattr(checkpoint.Checkpoint, "is_due", lambda self: next(due, False))
        with pytest.raises(Crash):
            run.go(watch=crash)
    return run


@pytest.fixture(scope="module")
def stopped(tmp_path_factory) -> Run:
    return break_off(lay_out(tmp_path_factory.mktemp("stopped") / "run"))


@pytest.fixture(scope="module")
def other(tmp_path_factory) -> Run:
    """Another run of the same queries, over other readings, broken off at the same step."""
    return break_off(lay_out(tmp_path_factory.mktemp("other") / "run", seed=1))


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> dict[str, list[bytes]]:
    run = lay_out(tmp_path_factory.mktemp("whole") / "run")
    run.go()
    return rows(run)


def test_share_of_the_input_goes_on_where_it_was(stopped, tmp_path):
    watched: list[Outcome] = []
    outcome = copy(stopped, tmp_path / "run").go(watch=watched.append)
    assert [total.share for total in watched] == pytest.approx(
        [total.read / outcome.read for total in watched], abs=0.1
    )
    assert watched[0].batches == 4
    assert [total.share == 1 for total in watched] == [*[False] * (len(watched) - 1), True]
    assert outcome.share is None


def copy(run: Run, folder: Path, **changes) -> Run:
    return replace(run, folder=shutil.copytree(run.folder, folder), **changes)


def rows(run: Run) -> dict[str, list[bytes]]:
    """The lines of all files but dead letters, which name the folder of the input."""
    found = run.answers().items()
    return {name: part.splitlines() for name, part in found if not name.startswith("dead_letters")}


def lose(path: Path, other: Path) -> None:
    path.unlink()


def cut_short(path: Path, other: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def empty(path: Path, other: Path) -> None:
    path.write_bytes(b"")


def change_a_byte(path: Path, other: Path) -> None:
    content = bytearray(path.read_bytes() or b"x")
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def swap(path: Path, other: Path) -> None:
    shutil.copy(other, path)


Fault = Callable[[Path, Path], None]
FAULTS: tuple[Fault, ...] = (lose, cut_short, empty, change_a_byte, swap)


def check_refusal(error: SkerryError, after: dict[str, list[bytes]], before: dict[str, list[bytes]]) -> str:
    """It is told in a line, and nothing is changed."""
    assert isinstance(error, InputError)
    assert "\n" not in str(error)
    assert after == before
    return str(error)


def check(run: Run, other: Run, whole: dict[str, list[bytes]], name: str, fault: Fault) -> str:
    """Damage a file and go on: give what was said, or nothing if the answers are right."""
    [path], others, before = run.checkpoint.glob(name), [*other.checkpoint.glob(name)], rows(run)
    if fault is swap and not others:
        return ""
    fault(path, others[0] if others else path)
    try:
        run.go()
    except SkerryError as error:
        return check_refusal(error, rows(run), before)
    assert rows(run) == whole
    return ""


FEW: list[tuple[str, Fault, str]] = [
    ("run.json", change_a_byte, "run.json' is damaged"),
    ("run.json", lose, "run.json' is missing"),
    ("state/*.base", lose, "has changes, and no base that they change"),
    ("state/*3.changes", lose, "000000000003.*' is missing"),
    ("state/*3.changes", cut_short, "3.changes' is damaged"),
    ("state/*3.changes", swap, "3.changes' belongs to another run"),
    ("steps/*.log", lose, "3.log' is missing"),
    ("steps/*.log", cut_short, "it was cut short"),
    ("steps/*.log", empty, "it was cut short"),
    ("steps/*.log", change_a_byte, "is damaged, or of another run"),
    ("steps/*.log", swap, "is damaged, or of another run"),
    ("tables/*.arrow", lose, ".arrow' is missing"),
    ("registry/*.base", swap, ".base' belongs to another run"),
    ("registry/*.base", change_a_byte, ".base' is damaged"),
    ("views/*.base", lose, "views' is missing, or has no first version of the views"),
]


@pytest.mark.parametrize(("name", "fault", "said"), FEW)
def test_damage_is_told_and_nothing_is_touched(stopped, other, tmp_path, name, fault, said):
    assert said in check(copy(stopped, tmp_path / "copy"), other, {}, name, fault)


@pytest.mark.soak
def test_every_file_may_be_damaged(stopped, other, whole, tmp_path):
    names = [str(path.relative_to(stopped.checkpoint)) for path in stopped.checkpoint.rglob("*") if path.is_file()]
    for number, (name, fault) in enumerate((name, fault) for name in names for fault in FAULTS):
        check(copy(stopped, tmp_path / str(number)), other, whole, name, fault)


OTHER = [
    ({"format": "parquet"}, "are csv so far; go on with --format csv"),
    ({"script": FEW_VIEWS.replace("'12' SECOND", "'16' SECOND")}, "belongs to other queries: it was begun with"),
    ({"script": FEW_VIEWS.replace("speed < 30", "speed < 20")}, "begun with '1 subscriptions, sha256"),
]


@pytest.mark.parametrize(("changes", "said"), OTHER)
def test_other_options_are_refused(stopped, tmp_path, changes, said):
    run = copy(stopped, tmp_path / "copy", **changes)
    with pytest.raises(InputError, match=re.escape(said)):
        run.go()
    assert rows(run) == rows(stopped)


def test_other_input_is_refused(stopped, tmp_path):
    run = copy(stopped, tmp_path / "copy")
    (run.folder / "road" / "more.csv").write_text("sensor,ts,segment,speed,flow\n")
    with pytest.raises(InputError, match=r"begun with 'source road reads 4 files of .*', where now is .* 5 files"):
        run.go()


def test_answers_elsewhere_are_refused(stopped, tmp_path):
    run = copy(stopped, tmp_path / "copy")
    shutil.rmtree(run.folder / run.out)
    with pytest.raises(InputError, match="the answers that the checkpoint goes on from are not in"):
        run.go()


def test_answers_that_another_run_has_replaced_are_not_gone_on_with(stopped, tmp_path):
    run = copy(stopped, tmp_path / "copy")
    FileSink(run.folder / run.out, "csv").open({}, resume=False)
    with pytest.raises(InputError, match="the answers that the checkpoint goes on from are not in"):
        run.go()


def test_run_that_has_moved_goes_on_with_other_steps_too(stopped, whole, tmp_path):
    run = copy(stopped, tmp_path / "copy", rows=200)
    run.go()

    def joined(found: dict[str, list[bytes]]) -> list[bytes]:
        return sorted(line for name, lines in found.items() if name.startswith("by_snjoin") for line in lines[1:])

    assert joined(rows(run)) == joined(whole)


def test_folder_that_is_not_ours_inside_a_checkpoint_is_left_alone(stopped, whole, tmp_path):
    run = copy(stopped, tmp_path / "copy")
    (run.checkpoint / "spool").mkdir()
    (run.checkpoint / "spool" / "received").write_text("7")
    run.go()
    assert rows(run) == whole
    assert (run.checkpoint / "spool" / "received").read_text() == "7"


def test_checkpoint_that_is_in_use_is_refused(stopped, tmp_path):
    run = copy(stopped, tmp_path / "copy")
    told = f"the checkpoint '.*' is in use by process {os.getpid()}"

    def start_another(total) -> None:
        with pytest.raises(RunError, match=told):
            run.go()
        raise Crash

    with pytest.raises(Crash):
        run.go(watch=start_another)


def test_matches_of_a_projects_subscriptions_are_counted_once(tmp_path):
    folder = lay_out(tmp_path).folder
    skerry.connect(folder).execute(FEW_VIEWS)
    settings = Settings("fjord", checkpoint=tmp_path / "kept", step_rows=50)

    def crash(total) -> None:
        if total.batches >= STOPPED_AFTER:
            raise Crash

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checkpoint.Checkpoint, "is_due", lambda self: False)
        for _ in range(2):  # the same steps are done again, and counted in the catalogue already
            with pytest.raises(Crash):
                skerry.connect(folder).run(FileSink(tmp_path / "out", "csv"), settings, watch=crash)
    outcome = skerry.connect(folder).run(FileSink(tmp_path / "out", "csv"), settings)
    counted = skerry.connect(folder).catalog.counters.of("subscription", "slow")
    assert counted is not None
    assert counted.matches == outcome.answers["subscriptions"]
