"""``skerry explain``: what runs where."""

from pathlib import Path
from typing import Annotated

import typer

from skerry.cli.script import opened
from skerry.errors import InputError
from skerry.plan import explain as plans

__all__ = ["explain"]


def explain(
    script: Annotated[Path, typer.Argument(help="SQL statements: sources and views.")],
    project: Annotated[Path | None, typer.Option(help="Project folder with a catalogue.")] = None,
) -> None:
    """Print the plan of each view: its tree, what runs beside the source and what by key.

    Example: skerry explain traffic.sql
    """
    found = opened(script, project).plans()
    if not found:
        raise InputError("the script has no view; add one with CREATE MATERIALIZED VIEW")
    typer.echo("\n\n".join(map(plans.explain, found)))
