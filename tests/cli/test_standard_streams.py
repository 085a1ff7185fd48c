"""Commands whose output cannot be written end with a word, not with a traceback."""

import os
import shlex
import subprocess
from pathlib import Path

import pytest

from tests.cli.commands import SKERRY, laid_out

_RUN = ["run", "script.sql", "--runtime", "fjord", "--format", "csv"]


def run_in_shell(folder: Path, arguments: list[str], redirection: str) -> subprocess.CompletedProcess[str]:
    command = f"{shlex.join([*SKERRY, *arguments])} {redirection}"
    return subprocess.run(["bash", "-c", command], cwd=folder, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
@pytest.mark.parametrize("arguments", [_RUN, ["--help"], ["run", "--help"], ["--version"]])
def test_full_disk_behind_standard_output_is_an_error(tmp_path, arguments):
    done = run_in_shell(laid_out(tmp_path), arguments, "> /dev/full")
    assert (done.returncode, done.stderr) == (
        1,
        "error: cannot write to standard output: No space left on device\n",
    )


@pytest.mark.parametrize("arguments", [_RUN, ["--help"]])
def test_closed_standard_output_harms_nothing(tmp_path, arguments):
    done = run_in_shell(laid_out(tmp_path), arguments, ">&-")
    assert (done.returncode, done.stderr) == (0, "")


def test_answers_are_complete_where_all_streams_are_closed(tmp_path):
    done = run_in_shell(laid_out(tmp_path), _RUN, "<&- >&- 2>&-")
    assert done.returncode == 0
    rows = [line for file in (tmp_path / "out" / "seen").glob("*.csv") for line in file.read_text().splitlines()]
    assert sorted(rows[1:]) == ['"a"', '"b"', '"c"']


def test_reader_that_goes_away_gets_no_traceback(tmp_path):
    done = run_in_shell(laid_out(tmp_path), _RUN, "| true")
    assert "Traceback" not in done.stderr


def test_character_that_the_terminal_does_not_have_is_escaped(tmp_path):
    command = [*SKERRY, "sql", "SELECT '本é' AS x"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, env={**os.environ, "PYTHONIOENCODING": "latin-1"})
    assert (done.returncode, done.stdout.splitlines()[1]) == (0, b"\\u672c\xe9")


def test_script_is_read_from_standard_input(tmp_path):
    done = run_in_shell(laid_out(tmp_path), ["run", "-", "--runtime", "fjord"], "< script.sql")
    assert "  seen: 3 rows\n" in done.stdout
