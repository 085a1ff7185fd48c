"""Runs that are recorded, killed, asked and replayed, on both runtimes."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from skerry.database import Settings
from skerry.errors import InputError
from skerry.model.time import Micros
from skerry.sinks.files import FileSink
from tests.cli.commands import skerry
from tests.history.given import ROWS, answers, history, lay_out, open_project, record

RUNTIMES = ["fjord", pytest.param("spark", marks=pytest.mark.spark)]
ALL_TIME = Micros(0), Micros(2**60)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory) -> Path:
    folder = lay_out(tmp_path_factory.mktemp("recorded"))
    outcome = record(folder)
    assert outcome.tallies["road"].late > 0
    assert outcome.batches > 4
    assert sum(history(folder).values()) == outcome.tallies["road"].accepted
    return folder


def replayed(folder: Path, out: Path, runtime: str, span=ALL_TIME) -> dict[str, bytes]:
    open_project(folder).run(FileSink(out, "csv"), Settings(runtime, "local[2]", span=span))
    return answers(out)


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_history_is_what_was_accepted(tmp_path, recorded, runtime):
    folder = lay_out(tmp_path)
    outcome = record(folder, runtime, checkpoint=True)
    assert sum(history(folder).values()) == outcome.tallies["road"].accepted
    assert history(folder) == history(recorded)


def test_replay_gives_the_live_answers_byte_for_byte(tmp_path):
    folder = lay_out(tmp_path)
    record(folder, "fjord")
    live = _read_live(folder)
    again = replayed(folder, tmp_path / "again", "fjord")
    assert {name: again[name] for name in live} == live
    assert all(len(live[name].splitlines()) > 1 for name in ("mean", "slow", "pairs"))


@pytest.mark.spark
def test_replay_on_spark_gives_the_live_rows(tmp_path):
    """Several tasks read a live source, and one its history: rows of one batch may stand in another order."""
    folder = lay_out(tmp_path)
    record(folder, "spark")
    live = {name: sorted(part.splitlines()) for name, part in _read_live(folder).items()}
    again = replayed(folder, tmp_path / "again", "spark")
    assert {name: sorted(again[name].splitlines()) for name in live} == live
    assert all(len(live[name]) > 1 for name in ("mean", "slow", "pairs"))


def _read_live(folder: Path) -> dict[str, bytes]:
    found = answers(folder / "out")
    return {name: part for name, part in found.items() if not name.startswith(("dead_", "subs"))}


def test_replay_of_a_span_has_the_windows_in_it(tmp_path, recorded):
    minute = 60_000_000
    midnight = 1_767_312_000_000_000
    found = replayed(recorded, tmp_path / "again", "fjord", (Micros(midnight), Micros(midnight + minute)))
    live = answers(recorded / "out")["mean"].splitlines()
    wanted = [line for line in live if b"2026-01-02 00:00:" in line]
    assert found["mean"].splitlines()[1:] == wanted
    assert wanted


def test_history_of_another_stream_is_refused(tmp_path, recorded):
    database = open_project(recorded)
    database.execute(
        "CREATE SOURCE rail (ts TIMESTAMP, WATERMARK FOR ts AS ts) WITH (connector='sim');"
        "CREATE MATERIALIZED VIEW all_rail AS SELECT ts FROM rail"
    )
    with pytest.raises(InputError, match=r"there is no history of 'rail' in '.*'; there is one of road"):
        database.run(FileSink(tmp_path, "csv"), Settings("fjord", span=ALL_TIME))
    database.execute("DROP MATERIALIZED VIEW all_rail; DROP SOURCE rail")


def test_history_and_answers_can_be_asked(recorded):
    found = open_project(recorded).sql("SELECT count(*) AS n FROM history.road").to_arrow()
    assert found.to_pylist() == [{"n": sum(history(recorded).values())}]
    asked = open_project(recorded).sql(
        "SELECT sum(n)::INT AS n, typeof(any_value(window_start)) AS t FROM answers.mean"
    )
    assert asked.to_arrow().to_pylist() == [{"n": sum(history(recorded).values()), "t": "TIMESTAMP"}]


def test_history_has_the_declared_columns_alone(recorded):
    found = open_project(recorded).sql("SELECT * FROM history.road LIMIT 1").to_arrow()
    assert found.column_names == ["sensor", "ts", "segment", "speed"]


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("SELECT * FROM history.rod", "there is no history of 'rod'; there is one of road"),
        ("SELECT * FROM answers.meen", "there are no answers of 'meen'; there are some of dead_letters, mean, pairs"),
        ("SELECT * FROM read_text('/etc/passwd'), history.road", "file system operations are disabled"),
    ],
)
def test_wrong_question_is_told(recorded, query, message):
    found = skerry(recorded, "sql", query)
    assert found.returncode == 2
    assert message in found.stderr


def test_stream_that_has_no_history_yet_is_empty(tmp_path):
    database = open_project(lay_out(tmp_path))
    assert database.sql("SELECT * FROM history.road").to_arrow().num_rows == 0


def test_answers_are_there_when_a_run_has_written_them(tmp_path):
    with pytest.raises(InputError, match="no answers of 'mean'; no run of this project has written any yet"):
        open_project(lay_out(tmp_path)).sql("SELECT * FROM answers.mean")


def test_bounded_input_is_kept_only_when_that_is_asked_for(tmp_path):
    folder = lay_out(tmp_path, 1)
    open_project(folder).run(FileSink(folder / "out", "csv"), Settings("fjord"))
    assert not (folder / "history").exists()


def test_live_source_of_a_project_is_kept_and_its_files_stay_few(tmp_path):
    (tmp_path / "script.sql").write_text(
        "CREATE SOURCE road (sensor VARCHAR, ts TIMESTAMP, WATERMARK FOR ts AS ts) "
        "WITH (connector='sim', sensors='2', speedup='200');"
        "CREATE MATERIALIZED VIEW seen AS SELECT sensor, ts FROM road;"
    )
    done = [0]
    outcome = open_project(tmp_path).run(
        FileSink(tmp_path / "out", "csv"),
        Settings("fjord"),
        stopped=lambda: done[-1] >= 80,
        watch=lambda total: done.append(total.batches),
    )
    listed = open_project(tmp_path).sql(
        "SELECT (SELECT count(*) FROM history.road) h, (SELECT count(*) FROM answers.seen) a"
    )
    [counts] = listed.to_arrow().to_pylist()
    assert counts["h"] == counts["a"] == outcome.tallies["road"].accepted > 0
    assert len(list((tmp_path / "out" / "seen").iterdir())) < 40


def test_without_a_project_there_is_no_history(tmp_path):
    lay_out(tmp_path)
    found = skerry(tmp_path, "run", "script.sql", "--runtime", "fjord", "--history")
    assert (found.returncode, "history is kept in a project" in found.stderr) == (2, True)


def test_replay_is_a_command(tmp_path, recorded):
    times = ["--from", "2026-01-01", "--to", "2026-01-03", "--speed", "1000000"]
    options = ["--runtime", "fjord", "--format", "csv", "--out", str(tmp_path / "again")]
    found = skerry(recorded, "replay", "script.sql", *times, *options)
    assert found.returncode == 0, found.stderr
    assert answers(tmp_path / "again")["pairs"] == answers(recorded / "out")["pairs"]


def _start(folder: Path, runtime: str) -> "subprocess.Popen[bytes]":
    main = "from skerry.cli import main; main()"
    options = ["--runtime", runtime, "--format", "csv", "--batch-rows", str(ROWS), "--out", str(folder / "out")]
    kept = ["--history", "--project", str(folder), "--checkpoint", str(folder / "kept")]
    command = [sys.executable, "-c", main, "run", str(folder / "script.sql"), *options, *kept]
    master = ["--master", "local[2]"] if runtime == "spark" else []
    return subprocess.Popen([*command, *master], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


@pytest.mark.timeout(900)
@pytest.mark.parametrize("runtime", RUNTIMES)
def test_killed_run_that_goes_on_has_each_accepted_reading_once(tmp_path, recorded, runtime):
    folder = lay_out(tmp_path)
    process = _start(folder, runtime)
    while process.poll() is None and not list(folder.glob("history/road/*/*.parquet")):
        time.sleep(0.01)
    process.kill()
    process.communicate()
    _, said = _start(folder, runtime).communicate()
    assert b"error" not in said
    assert history(folder) == history(recorded)
