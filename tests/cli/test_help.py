import pytest
from typer.testing import CliRunner

from skerry import __version__
from skerry.cli import app

COMMANDS = [command.callback.__name__ for command in app.registered_commands]


def read_help(*arguments: str) -> str:
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0
    return result.stdout


def test_commands_are_these():
    assert COMMANDS == ["demo", "run", "explain", "verify", "sql", "doctor", "bench", "reproduce", "simulate"]


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_every_command_has_an_example(command):
    assert f"Example: skerry {command}" in read_help(command, "--help")


@pytest.mark.parametrize("command", ["add", "load", "list", "show", "remove"])
def test_help_of_every_command_about_queries_has_an_example(command):
    assert f"Example: skerry queries {command}" in read_help("queries", command, "--help")


@pytest.mark.parametrize("command", ["list", "find", "show", "similar", "import", "export", "discover"])
def test_help_of_every_command_about_sensors_has_an_example(command):
    assert f"Example: skerry sensors {command}" in read_help("sensors", command, "--help")


def test_help_of_simulated_sensors_has_an_example():
    assert "Example: skerry sim mqtt" in read_help("sim", "mqtt", "--help")


@pytest.mark.parametrize("command", [*COMMANDS, "queries", "rules", "sensors", "sim"])
def test_help_names_every_command(command):
    assert f"\n  {command} " in read_help("--help")


def test_version_is_told():
    assert read_help("--version") == f"skerry {__version__}\n"


@pytest.mark.parametrize(
    "option", ["--subscriptions", "--runtime", "--out", "--format", "--master", "--checkpoint", "--project"]
)
def test_options_of_run_are_kept(option):
    assert f"  {option} " in read_help("run", "--help")
