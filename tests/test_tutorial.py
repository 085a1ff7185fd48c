"""The tutorial, word by word: its files are written, its commands are run, and they say what it says."""

import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from skerry.cli import app
from tests.cli.commands import SKERRY

PAGE = (Path(__file__).parents[1] / "docs" / "tutorial.md").read_text()
BLOCKS = re.findall(r"^```(\w+)(?: (\S+))?\n(.*?)^```", PAGE, re.M | re.S)


@pytest.fixture
def folder(tmp_path, monkeypatch: pytest.MonkeyPatch):
    """An empty folder with the tutorial's files."""
    monkeypatch.chdir(tmp_path)
    for kind, name, text in BLOCKS:
        if kind in ("csv", "sql"):
            (tmp_path / name).write_text(text)
    return tmp_path


def read_commands(tag: str) -> list[tuple[str, str]]:
    """The commands of the blocks with a tag, and what they are said to print."""
    text = "".join(text for kind, found, text in BLOCKS if kind == "console" and found == tag)
    return [(part.partition("\n")[0], part.partition("\n")[2]) for part in re.split(r"^\$ ", text, flags=re.M)[1:]]


def carry_out(command: str) -> str:
    program, *arguments = command.split()
    if program == "cat":
        return "".join(path.read_text() for pattern in arguments for path in sorted(Path().glob(pattern)))
    result = CliRunner().invoke(app, arguments)
    assert (program, result.exit_code) == ("skerry", 0), result.output
    return result.stdout


def fits(printed: str, shown: str) -> bool:
    """Whether a text is the one that is shown, where ``...`` stands for anything."""
    return re.fullmatch(".*".join(map(re.escape, shown.split("..."))), printed, re.S) is not None


@pytest.mark.usefixtures("folder")
def test_commands_print_what_the_tutorial_shows():
    commands = read_commands("")
    assert len(commands) >= 7
    for command, shown in commands:
        assert fits(printed := carry_out(command), shown), f"{command}\n{printed}"


@pytest.mark.spark
@pytest.mark.usefixtures("folder")
def test_both_runtimes_agree_on_the_tutorial():
    [(command, shown)] = read_commands("spark")
    assert fits(printed := carry_out(f"{command} --master local[2]"), shown), printed


def test_live_run_of_the_tutorial_goes_on_where_it_was(folder):
    [(command, _)] = read_commands("live")
    (folder / "in").mkdir()
    shutil.copy(folder / "greenhouse.csv", folder / "in" / "monday.csv")
    assert run_until_answered(command, rows=3)
    (folder / "in" / "tuesday.csv").write_text((folder / "greenhouse.csv").read_text().replace("05-01", "05-02"))
    assert run_until_answered(command, rows=6)


def run_until_answered(command: str, rows: int) -> bool:
    """Start the run, press Ctrl-C when there are so many answers; whether there are as many in the end."""
    pipe = subprocess.PIPE
    process = subprocess.Popen([*SKERRY, *command.split()[1:]], stdout=pipe, stderr=pipe, start_new_session=True)
    while process.poll() is None and count_answers() < rows:
        time.sleep(0.1)
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGINT)
    _, complaints = process.communicate(timeout=100)
    assert (process.returncode, complaints) == (0, b"")
    return count_answers() == rows


def count_answers() -> int:
    return sum(len(path.read_text().splitlines()) - 1 for path in Path("live/hot").glob("part-*.csv"))
