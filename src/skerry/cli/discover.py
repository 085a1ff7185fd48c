"""``skerry sensors discover``: listen, and propose a source."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from skerry.catalog.sensor_file import write_sensors
from skerry.cli.interrupt import interruptible
from skerry.errors import InputError, OptionError
from skerry.lang.sql.create_source import CLOCK_OPTIONS
from skerry.model.atomic_write import write_atomically
from skerry.sensors.broker_address import BrokerAddress, read_password
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
    username: Annotated[str | None, typer.Option(help="Who the broker knows this by.")] = None,
    password_file: Annotated[Path | None, typer.Option(help="A file with the password.")] = None,
    password: Annotated[str | None, typer.Option(help="The password; others on this machine may see it.")] = None,
    ca_file: Annotated[Path | None, typer.Option(help="Certificates to trust, for mqtts.")] = None,
    out: Annotated[
        Path | None, typer.Option(help="A file for the script; the sensors go beside it as YAML. Else it is printed.")
    ] = None,
) -> None:
    """Listen to a broker, or look into files, and propose the sources that would read them, and their sensors.

    Example: skerry sensors discover mqtt://127.0.0.1:1883 --topic 'i80/#' --seconds 10 --out i80.sql
    """
    if "://" in where:
        address = BrokerAddress.parse(where).log_in(username, _read_password(password, password_file))
        scripts = _ask_broker(address, topic, seconds, ca_file, password_file)
    else:
        scripts = [_ask_files(where)]
    script = "\n\n".join(text for _, text in scripts) + "\n"
    fleet = write_sensors([sensor for made, _ in scripts for sensor in made.sensors])
    if out is None:
        commented = "".join(f"-- {line}\n" for line in fleet.splitlines())
        typer.echo(f"{script}\n-- the sensors, for skerry sensors import:\n{commented}", nl=False)
        return
    _write(out, script)
    _write(out.with_suffix(".yaml"), fleet)
    _summarize([made for made, _ in scripts], out)


def _read_password(given: str | None, file: Path | None) -> str | None:
    if given is not None and file is not None:
        raise OptionError("give --password or --password-file, not both")
    return given if file is None else read_password(file, str(file))


def _ask_broker(
    address: BrokerAddress, topic: str, seconds: float, ca_file: Path | None, password_file: Path | None
) -> list[tuple[Proposal, str]]:
    with interruptible() as stopped, Console(stderr=True).status(f"listening to {topic} for {seconds:g} s"):
        samples = listen(address, topic, seconds, stopped.is_set, ca_file)
    found = propose(samples)
    if not found:
        heard = f"{len(samples)} messages were heard on {topic!r}, and no reading in JSON or CBOR was among them"
        raise InputError(f"{heard}; listen longer with --seconds, or to others with --topic")
    own = {"connector": "mqtt", "url": address.public_url}
    files = {"ca_file": ca_file, "password_file": password_file}
    more = {name: str(file.absolute()) for name, file in files.items() if file is not None}
    if address.password is not None and password_file is None:
        typer.echo(
            "note: the password is not in the script; put it into a file, and add password_file='FILE'", err=True
        )
    return [
        (made, write_script(made, {**own, "topic": made.topic, **more, **_list_known(made, "mqtt")})) for made in found
    ]


def _ask_files(pattern: str) -> tuple[Proposal, str]:
    made = propose_files(pattern, Path())
    own = {"connector": "file", "path": pattern}
    return made, write_script(made, {**own, **_list_known(made, "file")})


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
