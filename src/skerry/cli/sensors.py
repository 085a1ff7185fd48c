"""``skerry sensors``: what a project knows of its sensors."""

from pathlib import Path
from typing import Annotated

import typer

from skerry.catalog import Sensor
from skerry.database import connect

__all__ = ["sensors"]

sensors = typer.Typer(help="The sensors of a project.", no_args_is_help=True)


@sensors.command(name="list")
def list_(
    project: Annotated[Path, typer.Option(help="Project folder with a catalogue.")] = Path(),
    limit: Annotated[int, typer.Option(help="How many to show.", min=1)] = 100,
) -> None:
    """List the sensors of all sources that have been run: name, source, kind, place, tags.

    Example: skerry sensors list --project i80
    """
    found = connect(project).catalog.sensors()
    lines = [_describe(sensor) for sensor in found[:limit]]
    if len(found) > limit:
        lines.append(f"and {len(found) - limit} more; --limit shows more")
    typer.echo("\n".join(lines) or "no sensor is known yet; a source lets its sensors be known when it is run")


def _describe(sensor: Sensor) -> str:
    place = "" if sensor.latitude is None else f" at {sensor.latitude:.5f}, {sensor.longitude:.5f}"
    tags = f" ({', '.join(sensor.tags)})" if sensor.tags else ""
    return f"{sensor.name}: {sensor.source}, {sensor.kind}{place}{tags}"
