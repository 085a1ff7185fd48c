import json
import subprocess
import sys

import pytest

from skerry.errors import InputError, OptionError
from skerry.experiments import papers
from skerry.experiments.papers import PAPERS, reproduce
from tests.cli.commands import skerry
from tests.experiments.example_figure import figure


@pytest.fixture
def quick_runs(monkeypatch) -> list[bool]:
    """How a paper was measured that measures nothing; beside it there is one that is not there yet."""
    quick_runs: list[bool] = []

    def measure(quick, tell, data):
        quick_runs.append(quick)
        yield figure(a=1)

    monkeypatch.setattr(papers, "PAPERS", {"one": measure, "other": None})
    return quick_runs


def silent(progress: str) -> None:
    pass


def test_papers_are_these():
    assert list(PAPERS) == ["snjoin", "fjords", "shedding", "deductive", "duality"]


def test_figures_of_a_paper_are_written(quick_runs, tmp_path):
    assert [done.name for done in reproduce("one", True, tmp_path / "new", silent)] == ["figure"]
    assert quick_runs == [True]
    assert sorted(file.name for file in (tmp_path / "new").iterdir()) == [
        "figure.csv",
        "figure.png",
        "report.md",
        "summary.json",
    ]


def test_folder_of_data_reaches_the_paper_that_needs_it(monkeypatch, tmp_path):
    def measure(quick, tell, data):
        (data / "seen").touch()
        yield figure(a=1)

    monkeypatch.setattr(papers, "PAPERS", {"one": measure})
    reproduce("one", True, tmp_path / "new", silent, data=tmp_path)
    assert (tmp_path / "seen").exists()


def test_all_says_what_is_not_there_yet(quick_runs, tmp_path):
    reproduce("all", False, tmp_path, silent)
    assert "| other | | | | not there yet |" in (tmp_path / "report.md").read_text()
    assert json.loads((tmp_path / "summary.json").read_text())["absent"] == ["other"]


def test_unknown_paper_is_distinguished_from_one_that_is_not_there_yet(quick_runs, tmp_path):
    with pytest.raises(InputError, match="unknown paper 'third'; known are one, other and all"):
        reproduce("third", True, tmp_path, silent)
    with pytest.raises(InputError, match="'other' are not there yet; there are those of one"):
        reproduce("other", True, tmp_path, silent)
    assert not list(tmp_path.iterdir())


def test_command_refuses_an_unknown_paper_with_exit_code_2(tmp_path):
    process = skerry(tmp_path, "reproduce", "third")
    assert process.returncode == 2
    known = "snjoin, fjords, shedding, deductive, duality and all"
    assert process.stderr == f"error: unknown paper 'third'; known are {known}\n"


def test_other_commands_do_not_wait_for_matplotlib():
    program = "import sys, skerry.cli; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], timeout=100, check=False).returncode == 0


def test_folder_that_cannot_be_written_is_reported_before_anything_is_measured(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OptionError, match="cannot write figures to"):
        reproduce("snjoin", True, tmp_path / "file" / "figures", pytest.fail)
