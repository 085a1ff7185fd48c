"""The command line: one file per command. Catches SkerryError and nothing else."""

import gc
import os
import signal
import sys
from collections.abc import Sequence
from typing import Any

import typer

from skerry import __version__
from skerry.cli.commands import CommandsOnDemand
from skerry.cli.interrupt import watch_interrupts
from skerry.cli.standard_streams import escape_foreign_characters, explain_lost_output, open_missing_streams
from skerry.errors import InputError, SkerryError
from skerry.model.private_folder import remove_private_folders

__all__ = ["app", "main", "run_command"]

# Typer brings a click of its own, and shows none of it but the children of this class.
_UsageError: type[Exception] = typer.BadParameter.__mro__[1]

_OF_SPARK = ("google", "pandas", "py4j", "pyspark")
"""Packages that an installation for small machines does not have."""

_STOPPED = 128 + signal.SIGINT

app = typer.Typer(
    name="skerry",
    cls=CommandsOnDemand,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Standing queries over sensor networks.\n\nExample: skerry run traffic.sql --runtime fjord",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"skerry {__version__}")
        raise typer.Exit


@app.callback()
def _common(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Print the version."),
) -> None:
    """Keep standing questions answered: over streams of readings, on Spark or in this process."""


def main() -> None:
    """Run a command; exit code 2 means that the user's input is wrong, 1 anything else."""
    gc.disable()  # until the command is loaded: what is imported stays, and looking through it takes a fifth of a start
    open_missing_streams()
    escape_foreign_characters()
    interrupted = watch_interrupts()
    try:
        code = _run_and_flush(sys.argv[1:])
    except Exception:
        if not interrupted.is_set():
            raise
    if interrupted.is_set():
        typer.echo("stopped", err=True)
        code = _STOPPED
    # Not by sys.exit: a run that was stopped leaves Spark's callback threads in the middle of a batch, and
    # DuckDB would complain on the terminal of what they still hold. The JVM ends when this process does.
    remove_private_folders()
    os._exit(code)


def _run_and_flush(arguments: Sequence[str]) -> int:
    """Run a command; if what it prints cannot be written, that is all that went wrong."""
    try:
        code = run_command(arguments)
        for stream in filter(None, (sys.stdout, sys.stderr)):  # there is none where it was closed
            stream.flush()
    except OSError as error:
        reason = explain_lost_output(error)
        if reason is None:
            raise
        typer.echo(f"error: {reason}", err=True)
        return 1
    return code


def run_command(arguments: Sequence[str]) -> int:
    """Run a command in this process; give the exit code."""
    try:
        code = app([*arguments] or ["--help"], prog_name="skerry", standalone_mode=False)
    except SkerryError as error:
        typer.echo(f"error: {error}", err=True)
        return 2 if isinstance(error, InputError) else 1
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing in ("", "skerry"):
            raise
        instead = "; --runtime fjord needs no Spark" if missing in _OF_SPARK else ""
        package = "protobuf" if missing == "google" else missing
        typer.echo(f"error: this needs {package}, which is not installed: pip install {package}{instead}", err=True)
        return 1
    except OSError as error:
        if error.filename is None:  # it is standard output that cannot be written, perhaps
            raise
        typer.echo(f"error: {error.filename}: {error.strerror}", err=True)
        return 1
    except _UsageError as error:
        if type(error).__name__ == "NoArgsIsHelpError":  # of a group without a command
            typer.echo(str(error), err=True)
            return 2
        typer.echo(f"error: {_describe_misuse(error)}", err=True)
        return 2
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 1
    return code if isinstance(code, int) else 0


def _describe_misuse(error: Any) -> str:
    """What is wrong with a command line, and who knows how it is written."""
    message = " ".join(error.format_message().split()).rstrip(".")
    where = error.ctx.command_path if error.ctx else "skerry"
    return f"{message[:1].lower()}{message[1:]}; see {where} --help"
