"""``skerry doctor``: what is wrong with the machine, and the command that mends it."""

from pathlib import Path
from typing import Annotated

import typer

from skerry.model.cache_folder import find_cache_folder

__all__ = ["doctor"]


def doctor(
    project: Annotated[Path, typer.Option(help="Project folder.")] = Path(),
    prepare: Annotated[
        bool,
        typer.Option(
            "--prepare", help="Do now what the first starts would: compile all kernels, archive Spark's classes."
        ),
    ] = False,
) -> None:
    """Look at Java, Spark, ports, disk and memory.

    Example: skerry doctor --prepare
    """
    from skerry.spark.doctor import examine

    findings = examine(project)
    for finding in findings:
        typer.echo(f"{'ok ' if finding.good else 'BAD'} {finding.name}: {finding.seen}")
        if finding.mend:
            typer.echo(f"    mend it with: {finding.mend}")
    if not all(finding.good for finding in findings):
        raise typer.Exit(1)
    if prepare:
        from skerry.cli.prepare import prepare as fill_cache

        fill_cache(typer.echo)
        typer.echo(f"prepared; what was made is in {find_cache_folder()}")
