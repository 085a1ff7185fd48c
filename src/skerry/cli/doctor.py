"""``skerry doctor``: what is wrong with the machine, and the command that mends it."""

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["doctor"]


def doctor(
    project: Annotated[Path, typer.Option(help="Project folder.")] = Path(),
) -> None:
    """Look at Java, Spark, ports, disk and memory.

    Example: skerry doctor
    """
    from skerry.spark.doctor import examine

    findings = examine(project)
    for finding in findings:
        typer.echo(f"{'ok ' if finding.good else 'BAD'} {finding.name}: {finding.seen}")
        if finding.mend:
            typer.echo(f"    mend it with: {finding.mend}")
    raise typer.Exit(0 if all(finding.good for finding in findings) else 1)
