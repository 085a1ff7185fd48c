"""``skerry replay``: a script over a past span of history."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from skerry.catalog import Catalog
from skerry.cli.interrupt import interruptible
from skerry.cli.script import read_script
from skerry.cli.summary import Pace, summarize
from skerry.database import Database, Settings
from skerry.errors import InputError, OptionError
from skerry.model.options import Option, Owner, moment, parse_option
from skerry.model.time import END_OF_TIME, MICROS, Micros
from skerry.pipeline.outcome import Outcome
from skerry.sinks.sinks import make_sink

__all__ = ["replay"]

_LOOK_SECONDS = 0.1


def replay(
    script: Annotated[Path, typer.Argument(help="SQL statements: the sources that were recorded, and views.")],
    since: Annotated[str, typer.Option("--from", help="The first moment, such as '2026-01-31 08:00:00', in UTC.")],
    until: Annotated[str, typer.Option("--to", help="The moment behind the last.")],
    speed: Annotated[
        float | None, typer.Option(help="How many seconds pass in one; as fast as it goes if not given.")
    ] = None,
    runtime: Annotated[str, typer.Option(help="spark or fjord (in this process).")] = "spark",
    out: Annotated[Path, typer.Option(help="Folder for the answers, one folder a view.")] = Path("replayed"),
    format_: Annotated[str, typer.Option("--format", help="parquet, csv or jsonl.")] = "parquet",
    master: Annotated[str, typer.Option(help="Spark master.")] = "local[*]",
    project: Annotated[Path, typer.Option(help="Project folder with a history.")] = Path(),
) -> None:
    """Run a script over a past span of a project's history, and give the live answers.

    Example: skerry replay traffic.sql --from "2026-01-31 08:00:00" --to "2026-01-31 09:00:00" --runtime fjord
    """
    if speed is not None and speed <= 0:
        raise OptionError(f"--speed must be above 0; got {speed:g}")
    if runtime == "network":
        raise InputError("motes take readings by themselves; replay on --runtime spark or fjord")
    span = _read_moment("--from", since), _read_moment("--to", until)
    database = Database(Catalog.in_memory(), project)
    database.execute(read_script(script))
    sink, began = make_sink("files", {"folder": str(out), "format": format_}), time.monotonic()
    with interruptible() as stopped:
        watch = _Speed(span[0], speed, stopped.is_set) if speed else None
        outcome = database.run(sink, Settings(runtime, master, span=span), stopped=stopped.is_set, watch=watch)
    typer.echo(summarize(outcome, Pace(runtime, time.monotonic() - began, was_stopped=stopped.is_set()), out))


def _read_moment(option: str, given: str) -> Micros:
    found: Micros = parse_option(given, Option(option, moment(), required=True), Owner("skerry replay"))
    return found


class _Speed:
    """Holds a run up after each batch, so that event time goes no faster than the clock, times ``speed``."""

    def __init__(self, since: Micros, speed: float, stopped: Callable[[], bool]) -> None:
        self._since, self._speed, self._stopped = since, speed, stopped
        self._started = time.monotonic()

    def __call__(self, outcome: Outcome) -> None:
        come = max((moment for moment in outcome.newest.values() if moment < END_OF_TIME), default=self._since)
        due = self._started + (come - self._since) / MICROS["SECOND"] / self._speed
        while not self._stopped() and (left := due - time.monotonic()) > 0:
            time.sleep(min(left, _LOOK_SECONDS))
