"""The commands by name. A command's file is imported when it is asked for: help should not wait for all of them."""

import gc
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_command, get_group

__all__ = ["COMMANDS", "CommandsOnDemand"]

COMMANDS = {
    "demo": "Show standing queries over simulated I-80 sensors, on Spark, until Ctrl-C.",
    "run": "Run a script's views until the input is used up, or until Ctrl-C.",
    "explain": "Print the plan of each view, what runs where, and what sensors must deliver.",
    "verify": "Run a script on both runtimes and compare the answers, row by row.",
    "replay": "Run a script over a past span of a project's history, and give the live answers.",
    "sql": "Ask history, answers and catalogue of a project, in DuckDB's SQL.",
    "doctor": "Look at Java, Spark, ports, disk and memory.",
    "bench": "Run benchmarks of a source checkout.",
    "reproduce": "Measure the papers' figures again, and say which claims hold.",
    "simulate": "Run a rule program on motes, and compare their answers with those of one process.",
    "queries": "The standing queries of a project: add, load, list, show, remove.",
    "rules": "Rule programs: check them, run them over facts, ask why.",
    "sensors": "The sensors of a project: list, find, show, import and more.",
    "sim": "Simulated sensors.",
}
"""What each does, in a line. Its file has a function, or a group of commands, of the same name."""


class CommandsOnDemand(TyperGroup):
    """A group that knows its commands by name, and the rest when it is needed."""

    def list_commands(self, ctx: Any) -> list[str]:
        """All names, in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of a name, if there is one."""
        if cmd_name not in COMMANDS:
            return None
        found = getattr(import_module(f"skerry.cli.{cmd_name}"), cmd_name)
        command: Any
        if isinstance(found, typer.Typer):
            found.rich_markup_mode = None
            command = get_group(found)
        else:
            alone = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
            alone.command(cmd_name)(found)
            command = get_command(alone)
        command.name = cmd_name
        _collect_from_now_on()
        return command

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write names and lines, without importing what they stand for."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


def _collect_from_now_on() -> None:
    """End what ``main`` began: what was loaded until now is never garbage, and is left alone for good."""
    if not gc.isenabled():
        gc.freeze()
        gc.enable()
