"""``skerry sensors``: what a project knows of its sensors."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from skerry.catalog import Area, Catalog, Found, Point, Search, Sensor
from skerry.cli.demand import describe_sensor_demand
from skerry.cli.discover import discover
from skerry.cli.project import look_into
from skerry.cli.sensor_files import export, import_
from skerry.cli.sensor_lines import describe_at_length, describe_line, to_json_text
from skerry.errors import CatalogError, OptionError
from skerry.model.options import suggest
from skerry.model.time import Micros, seconds, span

__all__ = ["sensors"]

sensors = typer.Typer(
    help="The sensors of a project: list, find, show, import and more.\n\nExample: skerry sensors find --tag i80",
    no_args_is_help=True,
)
sensors.command(name="import")(import_)
sensors.command()(export)
sensors.command()(discover)

_Project = Annotated[Path, typer.Option(help="Project folder with a catalogue.")]
_Json = Annotated[bool, typer.Option("--json", help="JSON, for machines.")]
_Limit = Annotated[int | None, typer.Option(help="How many to show; 100, or all as JSON, if not given.", min=1)]
_HomeSource = Annotated[str | None, typer.Option(help="Its source, where several have a sensor of that name.")]
_HERE = Path()
_FEW = 100
_NONE = "no sensor is known yet; sources let theirs be known when they are run, and skerry sensors import reads a file"


@sensors.command(name="list")
def list_(project: _Project = _HERE, limit: _Limit = None, json_: _Json = False) -> None:
    """List the sensors of all sources: name, source, kind, location, tags, status.

    Example: skerry sensors list --project i80
    """
    _search(look_into(project).catalog, Search(), limit, _NONE, as_json=json_)


@sensors.command()
def find(
    text: Annotated[str | None, typer.Argument(help="A part of the name.")] = None,
    tag: Annotated[list[str] | None, typer.Option(help="A tag that it has; may be given several times.")] = None,
    kind: Annotated[str | None, typer.Option(help="What kind it is of.")] = None,
    source: Annotated[str | None, typer.Option(help="Which source carries its readings.")] = None,
    near: Annotated[str | None, typer.Option(metavar="LAT,LON,METRES", help="How near to a point.")] = None,
    box: Annotated[str | None, typer.Option(metavar="SOUTH,WEST,NORTH,EAST", help="In which area.")] = None,
    seen_within: Annotated[str | None, typer.Option(metavar="SPAN", help="Heard no longer ago than this.")] = None,
    silent_for: Annotated[str | None, typer.Option(metavar="SPAN", help="Not heard for this long, or never.")] = None,
    project: _Project = _HERE,
    limit: _Limit = None,
    json_: _Json = False,
) -> None:
    """Find sensors by tag, kind, source, location, freshness or a part of the name: all that is given must hold.

    Example: skerry sensors find --tag i80 --near 37.87,-122.3,500 --seen-within 1m
    """
    point, within_m = _read_near(near) if near is not None else (None, None)
    area = _read_area(box) if box is not None else None
    seen, silent = _read_since(seen_within, "--seen-within"), _read_since(silent_for, "--silent-for")
    search = Search(tuple(tag or ()), kind, source, text, point, within_m, area, seen, silent)
    _search(look_into(project).catalog, search, limit, "no sensor fits", as_json=json_)


@sensors.command()
def show(
    name: Annotated[str, typer.Argument(help="A sensor.")],
    source: _HomeSource = None,
    project: _Project = _HERE,
    json_: _Json = False,
) -> None:
    """Show all that is known of a sensor, how it is, what the queries want of it, and which query wants what.

    Example: skerry sensors show loop-7
    """
    database = look_into(project)
    sensor = _find_one(database.catalog, name, source)
    status = database.catalog.statuses.of(sensor.name, sensor.source)
    if json_:
        typer.echo(to_json_text(Found(sensor, status)))
        return
    typer.echo(describe_at_length(sensor, status))
    if any(each.name == sensor.source for each in database.catalog.sources()):
        typer.echo(describe_sensor_demand(database, sensor))


@sensors.command()
def similar(
    name: Annotated[str, typer.Argument(help="A sensor, perhaps a dead one.")],
    source: _HomeSource = None,
    offline: Annotated[bool, typer.Option("--offline", help="Also those that are off line.")] = False,
    limit: _Limit = None,
    project: _Project = _HERE,
    json_: _Json = False,
) -> None:
    """List alternatives for a sensor: same kind and columns, those related to it first, then the nearest.

    Example: skerry sensors similar loop-7
    """
    catalog = look_into(project).catalog
    found = catalog.find_similar(_find_one(catalog, name, source), with_offline=offline)
    shown = limit or (len(found) if json_ else _FEW)
    _show(found[:shown], len(found), f"no other sensor measures what {name!r} does", as_json=json_)


def _search(catalog: Catalog, search: Search, limit: int | None, none: str, *, as_json: bool) -> None:
    found = catalog.find_sensors(search, limit if as_json else limit or _FEW)
    _show(found, len(found) if as_json else catalog.count_sensors(search), none, as_json=as_json)


def _show(found: Sequence[Found], total: int, none: str, *, as_json: bool) -> None:
    """Print some of all sensors that were found."""
    if as_json:
        typer.echo(to_json_text(found))
        return
    lines = [describe_line(each) for each in found]
    if total > len(found):
        lines.append(f"and {total - len(found)} more; --limit shows more")
    typer.echo("\n".join(lines) or none)


def _find_one(catalog: Catalog, name: str, source: str | None) -> Sensor:
    """The sensor of a name, of one source if that is needed to tell which."""
    named = catalog.sensor_entries.named(name)
    found = [sensor for sensor in named if source in (None, sensor.source)]
    if len(found) == 1:
        return found[0]
    homes = ", ".join(sensor.source for sensor in named)
    if found:
        raise CatalogError(f"several sources have a sensor {name!r}: {homes}; say which with --source")
    if named:
        raise CatalogError(f"source {source!r} has no sensor {name!r}; {homes} has")
    near = suggest(name, [sensor.name for sensor in catalog.sensors()]) or "; skerry sensors list tells which there are"
    raise CatalogError(f"there is no sensor {name!r}{near}")


def _read_near(given: str) -> tuple[Point, float]:
    latitude, longitude, metres = _read_numbers(given, 3, "--near", "37.87,-122.3,500")
    if abs(latitude) > 90 or abs(longitude) > 180 or metres < 0:
        raise OptionError(f"--near needs degrees and metres, such as 37.87,-122.3,500; got {given!r}")
    return Point(latitude, longitude), metres


def _read_area(given: str) -> Area:
    area = Area(*_read_numbers(given, 4, "--box", "37.8,-122.4,37.9,-122.2"))
    if area.south > area.north:
        raise OptionError(f"--box begins in the south: {area.south:g} is north of {area.north:g}; got {given!r}")
    return area


def _read_numbers(given: str, count: int, option: str, example: str) -> list[float]:
    try:
        found = [float(part) for part in given.split(",")]
    except ValueError:
        found = []
    if len(found) != count or any(number != number or abs(number) > 1e9 for number in found):
        raise OptionError(f"{option} needs {count} numbers, such as {example}; got {given!r}")
    return found


def _read_since(given: str | None, option: str) -> Micros | None:
    """The moment that is so long ago."""
    if given is None:
        return None
    ago = span(given)
    if ago is None:
        raise OptionError(f"{option} needs a span of time, such as 30s, 5min or 2h; got {given!r}")
    return Micros(seconds(time.time()) - ago)
