"""``skerry sim``: sensors that are not there, for whoever listens."""

import time
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from skerry.cli.interrupt import interruptible
from skerry.cli.trial import trial
from skerry.errors import InputError
from skerry.model.options import Option, Owner, moment, parse_option
from skerry.model.time import Micros
from skerry.sensors.broker_address import BrokerAddress
from skerry.sources.sim.motes import Faults, Fleet, FleetSettings, parse_kinds
from skerry.sources.sim.motes.tally import Tally

__all__ = ["sim"]

sim = typer.Typer(help="Simulated sensors.\n\nExample: skerry sim mqtt --kind soil --sensors 100", no_args_is_help=True)
sim.command()(trial)

_START_TIME = Option("--start-time", moment())


@sim.callback()
def _group() -> None:
    """Simulated sensors, on a real broker."""


@sim.command()
def mqtt(
    url: Annotated[
        str, typer.Option(envvar="SKERRY_MQTT_URL", help="The broker: mqtt://[NAME:PASSWORD@]HOST:PORT, or mqtts://.")
    ] = "mqtt://127.0.0.1:1883",
    prefix: Annotated[str, typer.Option(help="Topics are PREFIX/SENSOR/data, .../control and .../state.")] = "motes",
    kind: Annotated[str | None, typer.Option(help="traffic (if not given), air, soil or vibration.")] = None,
    sensors: Annotated[int | None, typer.Option(help="How many; 100 if not given.")] = None,
    kinds: Annotated[str | None, typer.Option(help="Several kinds: traffic=1000,air=500.")] = None,
    seed: Annotated[int, typer.Option(help="Another seed is another fleet.")] = 1,
    seconds: Annotated[float | None, typer.Option(help="Stop after so many; until Ctrl-C if not given.")] = None,
    rate: Annotated[float | None, typer.Option(help="Samples per second of each sensor.")] = None,
    program: Annotated[str | None, typer.Option(help="What sensors run until they are told: raw, ...")] = None,
    encoding: Annotated[str, typer.Option(help="json or cbor, of readings.")] = "json",
    time_form: Annotated[
        str, typer.Option("--time", help="Event time as iso text, or a number in s, ms or us.")
    ] = "iso",
    listens: Annotated[float, typer.Option(help="Milliseconds for which a sensor listens after a message.")] = 50.0,
    listening_mw: Annotated[float, typer.Option(help="Milliwatts that listening takes.")] = 0.0,
    battery: Annotated[float, typer.Option(help="Milliampere hours of a battery.")] = 100.0,
    die: Annotated[float, typer.Option(help="Share of sensors that die now and then, and come back.")] = 0.0,
    die_every: Annotated[float, typer.Option(help="Seconds within which such a sensor dies once.")] = 60.0,
    wrong_clock: Annotated[float, typer.Option(help="Share of sensors whose clock is wrong.")] = 0.0,
    duplicate: Annotated[float, typer.Option(help="Share of messages that are sent twice.")] = 0.0,
    reorder: Annotated[float, typer.Option(help="Share of messages that are sent after the next one.")] = 0.0,
    garble: Annotated[float, typer.Option(help="Share of messages that nobody can read.")] = 0.0,
    speed: Annotated[float, typer.Option(help="Seconds of the simulation per second.")] = 1.0,
    start_time: Annotated[str | None, typer.Option(help="When the simulation begins; now if not given.")] = None,
    first_seq: Annotated[int, typer.Option(help="The number of each sensor's first reading.", min=0)] = 0,
    ca_file: Annotated[Path | None, typer.Option(help="Certificate to trust, with mqtts://.")] = None,
    truth: Annotated[Path | None, typer.Option(help="File for what was sent and heard, as JSON lines.")] = None,
) -> None:
    """Simulate motes on an MQTT broker: they publish, obey control, drain batteries, die and come back.

    Example: skerry sim mqtt --prefix i80 --kind traffic --sensors 2000 --seconds 60 --truth truth.jsonl
    """
    settings = FleetSettings(
        _choose_kinds(kind, sensors, kinds),
        prefix=prefix,
        seed=seed,
        sample_period_us=None if rate is None else _to_period(rate),
        program=program,
        listens_ms=listens,
        encoding=encoding,
        time_form=time_form,
        speed=speed,
        battery_mah=battery,
        listening_mw=listening_mw,
        first_sequence=first_seq,
        faults=Faults(die, die_every, wrong_clock, duplicate, reorder, garble),
    )
    start_us = parse_option(start_time, _START_TIME, Owner("skerry sim mqtt"))
    fleet = Fleet(settings, BrokerAddress.parse(url), truth, ca_file, start_us)
    _run(fleet, seconds, truth)


def _choose_kinds(kind: str | None, sensors: int | None, kinds: str | None) -> dict[str, int]:
    if kinds is None:
        return {kind or "traffic": 100 if sensors is None else sensors}
    if kind is not None or sensors is not None:
        raise InputError(f"--kinds says how many sensors of which kind: leave --kind and --sensors out; got {kinds!r}")
    return parse_kinds(kinds)


def _to_period(rate: float) -> Micros:
    if not rate > 0:
        raise InputError(f"the rate of a fleet is above 0; got {rate:g}")
    return Micros(round(min(1e6 / rate, 1e15)))


def _run(fleet: Fleet, seconds: float | None, truth: Path | None) -> None:
    console, started = Console(stderr=True), time.monotonic()
    with interruptible() as stopped, console.status("connecting") as status:
        tally = fleet.run(seconds, stopped.is_set, lambda tally: status.update(_describe_progress(tally)))
    typer.echo(_summarize(tally, time.monotonic() - started, truth))


def _describe_progress(tally: Tally) -> str:
    heard, missed = _count_controls(tally)
    counts = f"{tally.readings:,} readings in {tally.messages:,} messages"
    return f"{tally.motes:,} motes, {tally.asleep:,} asleep: {counts}; control {heard} heard, {missed} missed"


def _count_controls(tally: Tally) -> tuple[int, int]:
    missed = tally.controls["outside"] + tally.controls["dead"]
    return sum(tally.controls.values()) - missed, missed


def _summarize(tally: Tally, seconds: float, truth: Path | None) -> str:
    rate = tally.readings / max(seconds, 1e-9)
    lines = [
        f"{tally.motes:,} motes for {seconds:.1f} s, {tally.asleep:,} asleep at the end",
        f"acknowledged: {tally.readings:,} readings in {tally.messages:,} messages, {rate:,.0f} readings per second",
        f"not acknowledged: {tally.unacknowledged_readings:,} readings; not sent: {tally.lost_readings:,} readings",
        f"faults: {tally.duplicates:,} messages twice, {tally.reordered:,} out of order, "
        f"{tally.garbled_messages:,} garbled with {tally.garbled_readings:,} readings",
        f"motes: {tally.deaths:,} died, {tally.restarts:,} came back, {tally.batteries_empty:,} batteries empty",
        "control: " + ", ".join(f"{count:,} {heard}" for heard, count in tally.controls.items()),
        f"energy: {tally.energy_mj:,.1f} mJ",
    ]
    lines += [f"connections lost: {tally.connection_losses:,}"] if tally.connection_losses else []
    if tally.longest_lag_s > 1.0:
        lines.append(
            f"the simulation was up to {tally.longest_lag_s:.1f} s behind its clock: fewer motes, or a lower rate"
        )
    lines += [f"the truth is in {truth}"] if truth else []
    return "\n".join(lines)
