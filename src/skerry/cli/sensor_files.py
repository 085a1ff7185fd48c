"""``skerry sensors import`` and ``export``: sensors in files."""

from pathlib import Path
from typing import Annotated

import typer

from skerry.catalog.sensor_file import check_entries, read_entries, write_sensors
from skerry.cli.project import look_into
from skerry.database import connect
from skerry.errors import InputError
from skerry.model.atomic_write import write_atomically

__all__ = ["export", "import_"]

_Project = Annotated[Path, typer.Option(help="Project folder with a catalogue.")]
_HERE = Path()


def import_(
    file: Annotated[Path, typer.Argument(help="YAML with a list 'sensors'; see docs/sensors.md.")],
    project: _Project = _HERE,
) -> None:
    """Enter all sensors of a file, or if something in it is wrong none.

    Example: skerry sensors import fleet.yaml --project i80
    """
    entries, catalog = read_entries(file), connect(project).catalog
    sources = {source.name: source.schema.names for source in catalog.sources()}
    check_entries(entries, file.name, sources, catalog.sensor_entries.list_missing)
    with catalog.all_or_nothing():
        catalog.sensor_entries.enter(entry.sensor for entry in entries)
    typer.echo(f"{len(entries)} sensors")
    for unknown in sorted({entry.sensor.source for entry in entries} - sources.keys()):
        typer.echo(f"note: source {unknown!r} is not declared yet", err=True)


def export(
    source: Annotated[str | None, typer.Option(help="The sensors of one source alone.")] = None,
    out: Annotated[Path | None, typer.Option(help="A file; if not given, it is printed.")] = None,
    project: _Project = _HERE,
) -> None:
    """Write all sensors as YAML, as ``import`` reads it.

    Example: skerry sensors export --out fleet.yaml
    """
    text = write_sensors(look_into(project).catalog.sensor_entries.all(source))
    if out is None:
        typer.echo(text, nl=False)
        return
    try:
        write_atomically(out, text.encode())
    except OSError as error:
        raise InputError(f"cannot write {str(out)!r}: {error.strerror}") from None
    typer.echo(f"written to {out}")
