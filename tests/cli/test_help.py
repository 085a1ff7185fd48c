import subprocess
import sys

import pytest
from typer.testing import CliRunner

from skerry import __version__
from skerry.cli import app
from skerry.cli.commands import COMMANDS

GROUPS = ["queries", "rules", "sensors", "sim"]
ALONE = [name for name in COMMANDS if name not in GROUPS]


def read_help(*arguments: str) -> str:
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0
    return result.stdout


def test_commands_are_these():
    assert ALONE == ["demo", "run", "explain", "verify", "replay", "sql", "doctor", "bench", "reproduce", "simulate"]


@pytest.mark.parametrize("command", ALONE)
def test_help_of_every_command_has_an_example(command):
    assert f"Example: skerry {command}" in read_help(command, "--help")


@pytest.mark.parametrize("group", [[], *([name] for name in GROUPS)], ids=str)
def test_help_of_every_group_has_an_example(group):
    assert f"Example: {' '.join(['skerry', *group])} " in read_help(*group, "-h")


@pytest.mark.parametrize("command", ["add", "load", "list", "show", "remove"])
def test_help_of_every_command_about_queries_has_an_example(command):
    assert f"Example: skerry queries {command}" in read_help("queries", command, "--help")


@pytest.mark.parametrize("command", ["list", "find", "show", "similar", "import", "export", "discover"])
def test_help_of_every_command_about_sensors_has_an_example(command):
    assert f"Example: skerry sensors {command}" in read_help("sensors", command, "--help")


def test_help_of_simulated_sensors_has_an_example():
    assert "Example: skerry sim mqtt" in read_help("sim", "mqtt", "--help")


@pytest.mark.parametrize("command", COMMANDS)
def test_help_names_every_command_with_its_own_words(command):
    assert f"\n  {command} " in read_help("-h")
    assert " ".join(COMMANDS[command].split()) in " ".join(read_help(command, "-h").split())


def test_help_imports_no_command():
    code = "import sys; from skerry.cli import app; app(['--help'], standalone_mode=False)"
    found = subprocess.run(
        [sys.executable, "-c", code + "; print('skerry.database' in sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout.endswith("False\n")


def test_version_is_told():
    assert read_help("--version") == f"skerry {__version__}\n"


@pytest.mark.parametrize(
    "option", ["--subscriptions", "--runtime", "--out", "--format", "--master", "--checkpoint", "--project"]
)
def test_options_of_run_are_kept(option):
    assert f"  {option} " in read_help("run", "--help")
