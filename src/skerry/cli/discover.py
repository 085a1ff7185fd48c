"""``skerry sensors discover``: listen, and propose a source."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from skerry.catalog.sensor_file import write_sensors
from skerry.cli.run import interruptible
from skerry.errors import InputError
from skerry.lang.sql.create_source import CLOCK_OPTIONS
from skerry.model.atomic_write import write_atomically
from skerry.sensors.broker_address import BrokerAddress
from skerry.sensors.discover.files import propose_files
from skerry.sensors.discover.listen import listen
from skerry.sensors.discover.propose import Proposal, propose
from skerry.sensors.discover.script import list_options, write_script
from skerry.sources.connectors import CONNECTORS

__all__ = ["discover"]


def discover(
    where: Annotated[str, typer.Argument(metavar="URL|FILES", help="A broker (mqtt://host:1883), or 'in/*.jsonl'.")],
    topic: Annotated[str, typer.Option(help="Which topics of the broker to listen to.")] = "#",
    seconds: Annotated[float, typer.Option(help="How long to listen.", min=0.1, max=86_400)] = 10.0,
    out: Annotated[
        Path | None, typer.Option(help="A file for the script; the sensors go beside it as YAML. Else it is printed.")
    ] = None,
) -> None:
    """Listen to a broker, or look into files, and propose the sources that would read them, and their sensors.

    Example: skerry sensors discover mqtt://127.0.0.1:1883 --topic 'i80/#' --seconds 10 --out i80.sql
    """
    scripts = _ask_broker(where, topic, seconds) if "://" in where else [_ask_files(where)]
    script = "\n\n".join(text for _, text in scripts) + "\n"
    fleet = write_sensors([sensor for made, _ in scripts for sensor in made.sensors])
    if out is None:
        commented = "".join(f"-- {line}\n" for line in fleet.splitlines())
        typer.echo(f"{script}\n-- the sensors, for skerry sensors import:\n{commented}", nl=False)
        return
    _write(out, script)
    _write(out.with_suffix(".yaml"), fleet)
    _summarize([made for made, _ in scripts], out)


def _ask_broker(url: str, topic: str, seconds: float) -> list[tuple[Proposal, str]]:
    address = BrokerAddress.parse(url)
    with interruptible() as stopped, Console(stderr=True).status(f"listening to {topic} for {seconds:g} s"):
        samples = listen(address, topic, seconds, stopped.is_set)
    found = propose(samples)
    if not found:
        heard = f"{len(samples)} messages were heard on {topic!r}, and no reading in JSON or CBOR was among them"
        raise InputError(f"{heard}; listen longer with --seconds, or to others with --topic")
    own = {"connector": "mqtt", "url": address.public_url}
    if address.password is not None:
        typer.echo(
            "note: the password is not in the script; put it into a file, and add password_file='FILE'", err=True
        )
    return [(made, write_script(made, {**own, "topic": made.topic, **_list_known(made, "mqtt")})) for made in found]


def _ask_files(pattern: str) -> tuple[Proposal, str]:
    made = propose_files(pattern, Path())
    own = {"connector": "file", "path": pattern}
    found = _list_known(made, "file")
    if made.event_time is not None and made.event_time.unit is not None and "event_time_unit" not in found:
        made = made.with_time_as_number()
    return made, write_script(made, {**own, **found})


def _list_known(made: Proposal, connector: str) -> dict[str, str]:
    """What a connector can be told of the readings."""
    known = {option.name for option in (*CONNECTORS[connector].OPTIONS, *CLOCK_OPTIONS)}
    return {name: value for name, value in list_options(made).items() if name in known}


def _write(path: Path, text: str) -> None:
    try:
        write_atomically(path, text.encode())
    except OSError as error:
        raise InputError(f"cannot write {str(path)!r}: {error.strerror}") from None


def _summarize(found: Sequence[Proposal], out: Path) -> None:
    for made in found:
        typer.echo(f"{made.name}: {made.topic}, {len(made.sensors)} sensors, {len(made.columns)} columns")
    typer.echo(f"written to {out} and {out.with_suffix('.yaml')}")
