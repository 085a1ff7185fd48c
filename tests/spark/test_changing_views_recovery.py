"""Views come and go on Spark, the run breaks off around that and goes on: the answers are those of a run in process."""

import json
import random
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from skerry.database import Database, Settings, connect
from skerry.pipeline.outcome import Outcome
from skerry.pipeline.view_set import ViewChange, ViewSet
from skerry.sinks.files import FileSink
from skerry.spark.session import session
from tests.fjord.many_views import lay_out
from tests.fjord.test_changing_views import BASE, POOL, answers, many, parts, rows, statement
from tests.spark.test_changing_views import Doing, by_batch, run

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]
_DOINGS = {
    2: statement(POOL["slow"], POOL["counts"], *many(most=range(4)).split(";")[:-1]),
    4: statement(POOL["together"], "DROP MATERIALIZED VIEW mean", "DROP MATERIALIZED VIEW many2"),
    6: statement(POOL["by_amjoin"], POOL["perhaps"], "DROP MATERIALIZED VIEW slow", "DROP MATERIALIZED VIEW counts"),
    8: statement(POOL["slow"], POOL["jams"], "DROP MATERIALIZED VIEW many0"),
}


class BreakingSink(FileSink):
    """Breaks off a run once in each of some batches, when its answers are written and it is not recorded yet."""

    def __init__(self, directory: Path, breaks: set[int]) -> None:
        super().__init__(directory, "csv")
        self._breaks, self._last = breaks, -1

    def write(self, output, number, rows, parts=()) -> None:
        self._last = number
        super().write(output, number, rows, parts)

    def settle(self) -> None:
        if self._last in self._breaks:
            self._breaks.remove(self._last)
            raise RuntimeError("breaks off before the batch is recorded")
        super().settle()


def break_off_and_go_on(
    project: Path,
    doings: Mapping[int, Doing],
    before: set[int],
    after: set[int],
    script: str = BASE,
    *,
    history: bool | None = None,
) -> Outcome:
    """Run to the end; it breaks off before some batches are recorded, and before Spark notes others as done."""
    before, after, done = set(before), set(after), set[int]()

    def act(total: Outcome) -> None:
        if total.batches not in done and (doing := doings.get(total.batches)):
            doing(connect(project))
        done.add(total.batches)
        if total.batches in after:
            after.remove(total.batches)
            raise RuntimeError("breaks off before Spark has noted the batch as done")

    settings = Settings("spark", "local[2]", project / "kept", step_rows=50, history=history)
    while True:
        database = connect(project)
        if not database.has_begun(settings, script):
            database.execute(script)
        try:
            return database.run(BreakingSink(project / "out", before), settings, watch=act, script=script)
        except Exception as error:
            if "breaks off" not in str(error):
                raise


def check_against_fjord(folder: Path, out: Path, doings: Mapping[int, Doing]) -> None:
    twin = lay_out(folder / "twin").folder
    run(twin, Settings("fjord", step_rows=50), doings)
    found, expected = answers(out), answers(twin / "out")
    assert {name for name in found if not name.startswith(".")} == expected.keys()
    for name in expected:
        assert by_batch(found[name]) == by_batch(expected[name]), name


def read_groups(project: Path) -> set[int]:
    """The numbers of the groups that Spark keeps state for."""
    reader = session("local[2]").read.format("statestore").option("stateVarName", "pages")
    pages = reader.load(str(project / "kept" / "spark")).selectExpr("key.grp AS grp").distinct().collect()
    return {row.grp for row in pages}


def test_run_that_breaks_off_around_changes_goes_on_with_the_right_views(tmp_path):
    project = lay_out(tmp_path / "project").folder
    outcome = break_off_and_go_on(project, _DOINGS, before={2, 5, 8}, after={3, 5, 7, 9})
    assert (outcome.came["slow"], outcome.went["mean"]) == (8, 4)
    check_against_fjord(tmp_path, project / "out", _DOINGS)
    assert read_groups(project) <= list_groups(project)


def list_groups(project: Path) -> set[int]:
    """The numbers of the groups that there are at the end."""
    folder = project / "kept" / "views"
    found = ViewSet.from_json(read_sealed(max(folder.glob("*.base"))))
    changes = [ViewChange.from_json(read_sealed(path)) for path in sorted(folder.glob("*.changes"))]
    for change in changes:
        found = found.then(change) if change.version > found.version else found
    assert found.next_number > len(found.groups)
    return set(found.groups)


def read_sealed(path: Path) -> dict[str, Any]:
    return json.loads(path.read_bytes().rpartition(b"\nskerry-1")[0])


def start(project: Path) -> subprocess.Popen[bytes]:
    main = "from skerry.cli import main; main()"
    kept = ["--out", str(project / "out"), "--checkpoint", str(project / "kept"), "--project", str(project)]
    options = [*kept, "--format", "csv", "--master", "local[2]", "--batch-rows", "50"]
    with (project / "log").open("ab") as log:
        command = [sys.executable, "-c", main, "run", str(project / "script.sql"), *options]
        return subprocess.Popen(command, stdout=log, stderr=log, cwd=project)


def count_batches(project: Path) -> int:
    return len(parts(project / "out", "everything")) if (project / "out" / "everything").is_dir() else 0


def check_killed(folder: Path, kills: int) -> None:
    """Change views by turns with kills; compare with a run in process to which the same is done at the same batches."""
    project = lay_out(folder / "project").folder
    (project / "script.sql").write_text(BASE)
    left, process, killed = dict(_DOINGS), start(project), 0
    kill_after = sorted(random.sample(range(1, 11), kills))
    while (code := process.poll()) is None or killed < kills:
        batches = count_batches(project)
        for due in [batch for batch in left if batch <= batches]:
            left.pop(due)(connect(project))
        if code is not None or (kill_after and batches >= kill_after[0]):
            assert code in (None, -9), (project / "log").read_text()[-3000:]
            time.sleep(random.random())
            process.kill()
            process.wait()
            process, killed = start(project), killed + 1
            kill_after = kill_after[1:]
        time.sleep(0.02)
    assert code == 0, (project / "log").read_text()[-3000:]
    record = read_sealed(project / "kept" / "progress.json")["after"]
    came = record[max(record, key=int)]["came"]
    doings: dict[int, list[Doing]] = {}
    for name, batch in zip(("counts", "together", "by_amjoin", "jams"), _DOINGS, strict=True):
        doings.setdefault(came[name], []).append(_DOINGS[batch])
    check_against_fjord(folder, project / "out", {batch: do_all(each) for batch, each in doings.items()})


def do_all(doings: Sequence[Doing]) -> Doing:
    def do(database: Database) -> None:
        for each in doings:
            each(database)

    return do


@pytest.mark.soak
@pytest.mark.parametrize("kills", [2, 4, 6])
def test_killed_run_goes_on_with_the_right_views(tmp_path, kills):
    check_killed(tmp_path, kills)


def test_run_goes_on_with_other_buckets_and_the_views_that_have_come(tmp_path):
    project = lay_out(tmp_path / "project").folder
    left, done = dict(_DOINGS), [0]

    def act(total: Outcome) -> None:
        if doing := left.pop(total.batches, None):
            doing(connect(project))
        done.append(total.batches)

    for buckets, until in ((2, 5), (3, 7), (1, 100)):
        database = connect(project)
        settings = Settings("spark", "local[2]", project / "kept", step_rows=50, buckets=buckets)
        if not database.has_begun(settings, BASE):
            database.execute(BASE)
        stop = {"stopped": lambda until=until: done[-1] >= until, "watch": act}
        outcome = database.run(FileSink(project / "out", "csv"), settings, script=BASE, **stop)
    found = answers(project / "out")
    batches = sorted(found["everything"])  # a change of buckets is a batch of its own, without readings
    doings: dict[int, list[Doing]] = {}
    for name, batch in zip(("counts", "together", "by_amjoin", "jams"), _DOINGS, strict=True):
        doings.setdefault(batches.index(outcome.came[name]), []).append(_DOINGS[batch])
    twin = lay_out(tmp_path / "twin").folder
    run(twin, Settings("fjord", step_rows=50), {batch: do_all(each) for batch, each in doings.items()})
    expected = answers(twin / "out")
    assert len(batches) == len(expected["everything"])
    for name in expected.keys() - {"running"}:
        assert rows(found[name]) == rows(expected[name]), name
    assert read_groups(project) <= list_groups(project)
