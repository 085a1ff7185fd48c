"""``skerry sim trial``: sensors, a broker, queries and crashes on this machine, and a check of every answer."""

import signal
from pathlib import Path
from typing import Annotated

import typer

from skerry.errors import RunError
from skerry.testing.trial import TrialSettings, run_trial

__all__ = ["trial"]


def trial(
    sensors: Annotated[int, typer.Option(help="How many simulated sensors.")] = 200,
    queries: Annotated[int, typer.Option(help="How many views and subscriptions.")] = 100,
    seconds: Annotated[float, typer.Option(help="For how long sensors send.")] = 60.0,
    runtime: Annotated[str, typer.Option(help="spark or fjord (in one process).")] = "spark",
    seed: Annotated[int, typer.Option(help="Another seed is another fleet, with other queries.")] = 1,
    dying: Annotated[
        int | None, typer.Option(help="About how many sensors die and come back; a twentieth if not given.")
    ] = None,
    rate: Annotated[float | None, typer.Option(help="Samples per second of each sensor.")] = None,
    listens: Annotated[float, typer.Option(help="Milliseconds for which a sensor listens after a message.")] = 50.0,
    delay: Annotated[int, typer.Option(help="Seconds by which readings may be late: the sources' delay.")] = 20,
    away: Annotated[float, typer.Option(help="Seconds for which driver and broker stay down.")] = 1.0,
    master: Annotated[str, typer.Option(help="Spark master.")] = "local[*]",
    folder: Annotated[
        Path | None, typer.Option(help="Empty folder in which all is kept; removed if not given.")
    ] = None,
) -> None:
    """Kill the driver, the broker and some sensors while queries run, and compare all answers with DuckDB's.

    Example: skerry sim trial --sensors 2000 --queries 1000 --seconds 600 --runtime spark
    """
    settings = TrialSettings(
        sensors,
        queries,
        seconds,
        runtime,
        seed,
        dying,
        listens_ms=listens,
        delay_s=delay,
        away_s=away,
        rate=rate,
        master=master,
        folder=folder,
    )
    signal.signal(signal.SIGTERM, _end)
    verdict = run_trial(settings, lambda text: typer.echo(text, err=True))
    typer.echo(verdict.describe())
    if verdict.wrong:
        raise RunError(f"the trial has found {len(verdict.wrong)} faults")


def _end(number: int, frame: object) -> None:
    """Leave in order, so that no broker and no fleet is left behind."""
    raise SystemExit(128 + number)
