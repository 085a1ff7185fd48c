import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from rich.text import Text

from tests.cli.commands import DATA, LIVE, SCRIPT, SKERRY, answers, laid_out, run, skerry, start_skerry

GARBLED = {
    "x,2026-01-01 00:00:03,fast\n": "column speed: 'fast' is not DOUBLE",
    "x,yesterday,60\n": "column ts: 'yesterday' is not TIMESTAMP",
    "x\n": "has 1 fields, expected 3",
    "x" * 10_000_000 + "\n": "line of 10000000 bytes, at most 1048576",
}


def interrupted(folder: Path, *options: str, number: int = signal.SIGINT) -> tuple[int, str, str]:
    """Start a live run, press Ctrl-C (or send another signal) once it has answered, and wait for its end."""
    command = [*SKERRY, "run", "script.sql", "--format", "csv", *options]
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, cwd=folder, stdout=pipe, stderr=pipe, text=True, start_new_session=True)
    while process.poll() is None and not answers(folder, "seen"):
        time.sleep(0.05)
    os.killpg(process.pid, number)
    printed, complaints = process.communicate(timeout=100)
    return process.returncode, printed, complaints


def assert_stopped_cleanly(folder: Path, runtime: str, code: int, printed: str, complaints: str) -> None:
    rows = len(answers(folder, "seen"))
    assert (code, complaints) == (0, "")
    assert printed.startswith(f"ran on {runtime}: ")
    assert printed.splitlines()[0].endswith("; stopped before its input was used up")
    assert f"  seen: {rows} rows\n" in printed
    assert list((folder / "out").rglob("*.tmp")) == []


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """A run without a fault in a process of its own, and its folder."""
    folder = laid_out(tmp_path_factory.mktemp("run"))
    return start_skerry(folder, "run", "script.sql", "--runtime", "fjord", "--format", "csv"), folder


def test_run_answers_every_view(done):
    _, folder = done
    assert answers(folder, "mean") == ["2026-01-01 00:00:00.000000,50", "2026-01-01 00:00:10.000000,20"]
    assert answers(folder, "seen") == ["a", "b", "c"]


def test_run_ends_with_an_account(done):
    completed, _ = done
    first, *lines = completed.stdout.splitlines()
    assert completed.returncode == 0
    assert first.startswith("ran on fjord: 1 batch in ")
    assert lines[0] == "  road: read 3 = accepted 3 + late 0 + rejected 0"
    assert lines[1:] == ["  mean: 2 rows", "  seen: 3 rows", "answers are in out"]


def test_run_in_a_pipe_has_nothing_to_say_beside_it(done):
    completed, _ = done
    assert completed.stderr == ""


def test_run_on_a_terminal_shows_how_much_of_the_input_is_read(tmp_path, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    completed = run(laid_out(tmp_path), "--batch-rows", "1")
    assert " 100 % of the input, 3 readings, " in Text.from_ansi(completed.stderr).plain


def test_output_without_answers_shows_its_columns(done):
    _, folder = done
    [part] = (folder / "out" / "dead_letters" / "road").iterdir()
    assert part.read_text() == '"reason","reading","place"\n'


@pytest.fixture(scope="module")
def garbled(tmp_path_factory):
    """A run over good lines with garbage between them, and its folder."""
    head, second, rest = DATA.partition("b,")
    folder = laid_out(tmp_path_factory.mktemp("garbled"), data=head + "".join(GARBLED) + second + rest)
    return run(folder), folder


def test_garbage_takes_no_good_row_along(garbled):
    completed, folder = garbled
    assert (completed.returncode, completed.stderr) == (0, "")
    assert "  road: read 7 = accepted 3 + late 0 + rejected 4\n" in completed.stdout
    assert answers(folder, "seen") == ["a", "b", "c"]


@pytest.mark.parametrize("reason", GARBLED.values())
def test_garbage_is_a_dead_letter_with_its_reason(garbled, reason):
    _, folder = garbled
    assert len([letter for letter in answers(folder, "dead_letters/road") if reason in letter]) == 1


def test_late_reading_is_counted(tmp_path):
    completed = run(laid_out(tmp_path, data=DATA + "late,2026-01-01 00:00:03,60\n"))
    assert "  road: read 4 = accepted 3 + late 1 + rejected 0\n" in completed.stdout
    assert answers(tmp_path, "seen") == ["a", "b", "c"]


@pytest.mark.parametrize("format_", ["parquet", "jsonl"])
def test_answers_come_in_the_format_asked_for(tmp_path, format_):
    run(laid_out(tmp_path), "--format", format_)
    assert {part.suffix for part in (tmp_path / "out").rglob("part-*")} == {f".{format_}"}


def test_second_run_replaces_the_answers_of_the_first(tmp_path):
    run(laid_out(tmp_path), "--batch-rows", "1")
    run(laid_out(tmp_path, data=DATA.partition("b,")[0]), "--format", "csv")
    assert answers(tmp_path, "seen") == ["a"]


def test_project_keeps_what_its_scripts_made(tmp_path):
    project = laid_out(tmp_path)
    (tmp_path / "more.sql").write_text("CREATE MATERIALIZED VIEW more AS SELECT speed FROM road")
    run(project, "--project", ".")
    completed = skerry(project, "run", "more.sql", "--project", ".", "--runtime", "fjord", "--format", "csv")
    assert completed.returncode == 0
    assert [len(answers(tmp_path, output)) for output in ("mean", "seen", "more")] == [2, 3, 3]


def test_relative_paths_start_where_the_command_is_given(tmp_path):
    folder = laid_out(tmp_path)
    (folder / "deep").mkdir()
    (folder / "script.sql").rename(folder / "deep" / "script.sql")
    completed = skerry(folder, "run", "deep/script.sql", "--runtime", "fjord", "--format", "csv")
    assert (completed.returncode, answers(folder, "seen")) == (0, ["a", "b", "c"])


def test_expression_that_fails_for_a_reading_gives_null(tmp_path):
    run(laid_out(tmp_path, SCRIPT.replace("SELECT sensor", "SELECT CAST(sensor AS INT) AS number, sensor")))
    assert answers(tmp_path, "seen") == [",a", ",b", ",c"]


def test_interrupted_live_run_ends_with_an_account(tmp_path):
    found = interrupted(laid_out(tmp_path, LIVE), "--runtime", "fjord")
    assert_stopped_cleanly(tmp_path, "fjord", *found)


def test_live_run_that_is_told_to_end_does_so_with_an_account(tmp_path):
    found = interrupted(laid_out(tmp_path, LIVE), "--runtime", "fjord", number=signal.SIGTERM)
    assert_stopped_cleanly(tmp_path, "fjord", *found)


@pytest.mark.spark
def test_live_run_on_spark_all_of_whose_processes_are_told_to_end_does_so_with_an_account(tmp_path):
    found = interrupted(laid_out(tmp_path, LIVE), "--master", "local[2]", number=signal.SIGTERM)
    assert_stopped_cleanly(tmp_path, "spark", *found)


def test_views_and_sources_without_rows_are_in_the_account(tmp_path):
    completed = run(laid_out(tmp_path, data="sensor,ts,speed\n"))
    account = "  road: read 0 = accepted 0 + late 0 + rejected 0\n  mean: 0 rows\n  seen: 0 rows\n"
    assert account in completed.stdout


def test_script_of_sources_alone_is_kept_in_its_project(tmp_path):
    completed = run(laid_out(tmp_path, SCRIPT.partition("CREATE MATERIALIZED")[0]), "--project", ".")
    assert (completed.returncode, completed.stderr) == (0, "")
    assert completed.stdout == "script.sql is in the catalogue of .; there is no view to run yet\n"


def test_run_meets_the_queries_of_the_project_it_is_started_in(tmp_path):
    source = laid_out(tmp_path, SCRIPT.partition("CREATE MATERIALIZED")[0])
    run(source, "--project", ".")
    skerry(tmp_path, "queries", "add", "slow", "road", "speed < 30")
    assert "  subscriptions: 1 row\n" in run(tmp_path).stdout


@pytest.mark.parametrize("command", [["queries", "list"], ["sensors", "list"], ["sql", "SELECT * FROM views"]])
def test_looking_into_a_folder_leaves_nothing_behind(command, tmp_path):
    assert skerry(tmp_path, *command).returncode == 0
    assert list(tmp_path.iterdir()) == []


def test_view_over_its_limit_stops_alone_and_the_run_says_so(tmp_path):
    window = "SLIDING(road, ts, INTERVAL '1' HOUR)"
    much = f"CREATE MATERIALIZED VIEW much WITH (max_combinations='3') AS SELECT a.ts FROM {window} AS a"
    folder = laid_out(tmp_path, SCRIPT + f"{much} JOIN {window} AS b ON a.speed - a.speed = b.speed - b.speed;")
    completed = run(folder)
    assert completed.returncode == 1
    assert "  much: stopped, " in completed.stdout
    assert completed.stderr.startswith("error: stopped before the end: much; all other views are complete")
    assert answers(folder, "seen") == ["a", "b", "c"]


def test_relative_paths_start_at_the_project_wherever_the_script_is(tmp_path):
    for name in ("project", "scripts", "elsewhere"):
        (tmp_path / name).mkdir()
    laid_out(tmp_path / "project")
    (tmp_path / "project" / "script.sql").rename(tmp_path / "scripts" / "script.sql")
    given = ["run", "../scripts/script.sql", "--project", "../project", "--runtime", "fjord", "--format", "csv"]
    completed = skerry(tmp_path / "elsewhere", *given)
    assert completed.returncode == 0, completed.stderr
    assert answers(tmp_path / "elsewhere", "seen") == ["a", "b", "c"]
