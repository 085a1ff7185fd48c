"""``skerry reproduce``: the papers' figures."""

import sys
from pathlib import Path
from typing import Annotated

import typer

__all__ = ["reproduce"]


def reproduce(
    paper: Annotated[str, typer.Argument(help="snjoin, fjords, shedding, deductive, duality or all.")] = "all",
    quick: Annotated[bool, typer.Option("--quick", help="Fewer sizes and shorter runs: a minute.")] = False,
    data: Annotated[
        Path | None,
        typer.Option(envvar="SKERRY_DATA", help="Folder of data, for Figure 11 of shedding."),
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for tables, pictures and the report.")] = Path("reproduced"),
) -> None:
    """Measure the papers' figures again, and say which claims hold.

    Example: skerry reproduce snjoin --quick --out figures
    """
    # Not above: other commands need not wait for matplotlib.
    from skerry.experiments.papers import reproduce as measured

    for figure in measured(paper, quick, out, _tell, data):
        for verdict in figure.verdicts:
            typer.echo(
                f"{figure.name}: {verdict.claim}: {verdict.outcome} (paper {verdict.paper}, ours {verdict.ours})"
            )
    typer.echo(f"the report is {out / 'report.md'}")


def _tell(progress: str) -> None:
    if sys.stderr.isatty():
        typer.echo(progress, err=True)
