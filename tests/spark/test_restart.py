"""A run that goes on gives the answers of one that never stopped, or says why it cannot, and replaces nothing.

Every file of a small checkpoint, Skerry's and Spark's, is lost, cut short, changed, or taken from another run; it is
started again with other options; and its Python processes are killed.
"""

import itertools
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import psutil
import pyarrow as pa
import pytest

from skerry.catalog import Catalog
from skerry.database import Database, Settings
from skerry.errors import InputError, RunError, SkerryError
from skerry.pipeline.outcome import Outcome
from skerry.sinks.files import FileSink
from skerry.spark.session import session

_PARTS = 20
"""In how many parts all files of a checkpoint are damaged: it takes long."""
pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]

SCRIPT = """CREATE SOURCE road (ts TIMESTAMP, segment INT, speed DOUBLE, WATERMARK FOR ts AS ts - INTERVAL '2' SECOND)
    WITH (connector='file', path='*.csv');
CREATE TABLE names (segment INT, name VARCHAR) WITH (connector='file', path='names/*.csv');
CREATE MATERIALIZED VIEW mean AS SELECT segment, window_start, AVG(speed) AS speed
    FROM TUMBLE(road, ts, INTERVAL '30' SECOND) GROUP BY segment, window_start;
CREATE MATERIALIZED VIEW named AS SELECT r.ts, n.name, r.speed FROM road AS r JOIN names AS n ON n.segment = r.segment;
INSERT INTO subscriptions (id, stream, predicate) VALUES ('slow', 'road', 'speed < 10');"""
BATCHES, ROWS = 5, 40
STOPPED_AFTER = 3


Watch = Callable[[Outcome], None]


@dataclass
class Run:
    """A folder with input, a checkpoint and answers."""

    folder: Path
    script: str = SCRIPT
    format: str = "csv"
    out: str = "out"

    @property
    def checkpoint(self) -> Path:
        return self.folder / "checkpoint"

    def go(self, batches: int = BATCHES, watch: Watch = lambda total: None) -> Outcome:
        """Run until so many batches are done."""
        database = Database(Catalog.in_memory(), self.folder)
        database.execute(self.script)
        done = [0]

        def count(total: Outcome) -> None:
            watch(total)
            done.append(total.batches)

        settings = Settings("spark", "local[2]", self.checkpoint, step_rows=ROWS)
        sink = FileSink(self.folder / self.out, self.format)
        return database.run(sink, settings, stopped=lambda: done[-1] >= batches, watch=count)

    def answers(self) -> dict[str, list[str]]:
        """The lines of all outputs."""
        found: dict[str, list[str]] = {}
        for part in sorted((self.folder / "out").rglob("part-*")):
            found.setdefault(str(part.parent.relative_to(self.folder)), []).extend(part.read_text().splitlines()[1:])
        return {output: sorted(lines) for output, lines in found.items()}


def lay_out(folder: Path, speed: int) -> Run:
    (folder / "names").mkdir(parents=True)
    (folder / "names" / "all.csv").write_text("segment,name\n0,north\n1,south\n")
    for minute in range(BATCHES):
        lines = [f"2026-01-01 00:{minute:02d}:{row:02d},{row % 3},{speed + row}" for row in range(ROWS)]
        (folder / f"{minute}.csv").write_text("\n".join(["ts,segment,speed", *lines, ""]))
    return Run(folder)


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Run:
    """A run that nothing disturbs."""
    run = lay_out(tmp_path_factory.mktemp("whole") / "run", 0)
    run.go()
    return run


@pytest.fixture(scope="module")
def stopped(tmp_path_factory) -> Run:
    run = lay_out(tmp_path_factory.mktemp("stopped") / "run", 0)
    run.go(STOPPED_AFTER)
    return run


@pytest.fixture(scope="module")
def other(tmp_path_factory) -> Run:
    """Another run of the same queries, over other readings, stopped at the same batch."""
    run = lay_out(tmp_path_factory.mktemp("other") / "run", 3)
    run.go(STOPPED_AFTER)
    return run


def lose(path: Path, other: Path) -> None:
    path.unlink()


def cut_short(path: Path, other: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def change_a_byte(path: Path, other: Path) -> None:
    content = bytearray(path.read_bytes() or b"x")
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def swap(path: Path, other: Path) -> None:
    if other != path:
        shutil.copy(other, path)


def empty(path: Path, other: Path) -> None:
    path.write_bytes(b"")


Fault = Callable[[Path, Path], None]
FAULTS: tuple[Fault, ...] = (lose, cut_short, empty, change_a_byte, swap)


def check(stopped: Run, whole: Run, other: Run, folder: Path, name: str, fault: Fault) -> str:
    """Damage a copy of a stopped run and let it go on: give what it said, or nothing if the answers are right."""
    run = Run(shutil.copytree(stopped.folder, folder))
    [path], others = run.checkpoint.glob(name), [*other.checkpoint.glob(name)]
    fault(path, others[0] if others else path)
    try:
        outcome = run.go()
    except SkerryError as error:
        return check_refusal(error, run.answers(), stopped.answers())
    assert run.answers() == whole.answers()
    assert outcome.tallies["road"].read == BATCHES * ROWS
    return ""


def check_refusal(error: SkerryError, answers: dict[str, list[str]], before: dict[str, list[str]]) -> str:
    """It is told in a line, and nothing that was there is gone."""
    assert isinstance(error, InputError | RunError)
    assert "\n" not in str(error)
    assert all(set(lines) <= set(answers[output]) for output, lines in before.items())
    return str(error)


OTHER = [
    ({"out": "elsewhere"}, "the answers that the checkpoint goes on from are not in"),
    ({"format": "parquet"}, "are csv so far; go on with --format csv"),
    (
        {"script": SCRIPT.replace("'30' SECOND", "'20' SECOND")},
        "where now is \"    FROM TUMBLE(road, ts, INTERVAL '20'",
    ),
    ({"script": SCRIPT.replace("speed < 10", "speed < 20")}, "begun with '1 subscriptions, sha256"),
]


@pytest.mark.parametrize(("changes", "said"), OTHER)
def test_other_options_are_refused(stopped, tmp_path, changes, said):
    run = Run(shutil.copytree(stopped.folder, tmp_path / "copy"), **changes)
    with pytest.raises(InputError, match=re.escape(said)):
        run.go()
    assert Run(run.folder).answers() == stopped.answers()


def test_other_input_is_refused(stopped, tmp_path):
    run = Run(shutil.copytree(stopped.folder, tmp_path / "copy"))
    (run.folder / "more.csv").write_text("ts,segment,speed\n")
    with pytest.raises(InputError, match=r"begun with 'source road reads 5 files of .*', where now is .* 6 files"):
        run.go()


def test_answers_that_another_run_has_replaced_are_not_gone_on_with(stopped, tmp_path):
    run = Run(shutil.copytree(stopped.folder, tmp_path / "copy"))
    FileSink(run.folder / "out", "csv").open({"mean": pa.schema({"speed": pa.float64()})}, resume=False)
    with pytest.raises(InputError, match="the answers that the checkpoint goes on from are not in"):
        run.go()


def test_run_that_has_moved_goes_on(stopped, whole, tmp_path):
    run = Run(shutil.copytree(stopped.folder, tmp_path / "copy"))
    run.go()
    assert run.answers() == whole.answers()


def test_run_whose_python_processes_are_killed_goes_on(whole, tmp_path):
    jvm = session("local[2]").sparkContext._jvm.java.lang.ProcessHandle.current().pid()
    killed: list[str] = []

    def kill(total: Outcome) -> None:
        """All that Spark has, between two batches: those who read, those who keep state, those who plan."""
        if total.batches == 2 and not killed:
            found = psutil.Process(jvm).children(recursive=True)
            processes = [process for process in found if process.status() != psutil.STATUS_ZOMBIE]
            killed.extend(" ".join(process.cmdline()) for process in processes)
            for process in processes:
                process.kill()

    run = lay_out(tmp_path / "run", 0)
    outcome = run.go(watch=kill)
    assert any("worker_daemon" in command for command in killed)
    assert any("streaming_source_runner" in command for command in killed)
    assert outcome.batches == BATCHES
    assert run.answers() == whole.answers()


FEW = [
    ("progress.json", lose, "progress.json' is missing"),
    ("run.json", change_a_byte, "run.json' is damaged"),
    ("registry/*.base", swap, ".base' belongs to another run"),
    ("spark/metadata", empty, "metadata' is damaged"),
    ("spark/commits/0", cut_short, ""),
    ("spark/state/0/0/1.zip", lose, "1.zip' is missing"),
    ("spark/state/0/1/1.zip", change_a_byte, "1.zip' is damaged"),
]


@pytest.mark.parametrize(("name", "fault", "said"), FEW)
def test_damage_is_told_or_does_no_harm(stopped, whole, other, tmp_path, name, fault, said):
    assert said in check(stopped, whole, other, tmp_path / "copy", name, fault)


@pytest.mark.soak
@pytest.mark.parametrize("part", range(_PARTS))
def test_every_file_may_be_damaged(stopped, whole, other, tmp_path, part):
    wrong, copies = [], itertools.count()  # each has a folder of its own: workers remember files by their paths
    files = sorted(path for path in stopped.checkpoint.rglob("*") if path.is_file())
    for path in files[part::_PARTS]:
        name = str(path.relative_to(stopped.checkpoint))
        for fault in FAULTS:
            try:
                said = check(stopped, whole, other, tmp_path / str(next(copies)), name, fault)
            except Exception as error:
                said = f"WRONG {error!r}"
                wrong.append((name, fault.__name__, said))
            print(name, fault.__name__, said or "right answers", flush=True)
    assert wrong == []
