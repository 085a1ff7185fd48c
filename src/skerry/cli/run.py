"""``skerry run``: carry a script out and keep its views answered."""

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import Annotated

import typer
from rich.console import Console
from rich.status import Status

from skerry.cli.limits import MaxListLength, MaxSeconds, MaxStages, MaxTuples, read_limits
from skerry.cli.script import open_script
from skerry.cli.sql import format_rows
from skerry.cli.summary import summarize
from skerry.database import Settings
from skerry.errors import RunError
from skerry.pipeline.outcome import Outcome
from skerry.sinks.sinks import make_sink
from skerry.subscriptions.file import read_subscriptions

__all__ = ["interruptible", "run"]


def run(
    script: Annotated[Path, typer.Argument(help="SQL statements: sources and views.")],
    subscriptions: Annotated[
        Path | None, typer.Option(help="JSON lines or Parquet with id, stream, predicate.")
    ] = None,
    runtime: Annotated[str, typer.Option(help="spark, fjord (in this process) or network (motes).")] = "spark",
    out: Annotated[Path, typer.Option(help="Folder for the answers, one folder a view.")] = Path("out"),
    format_: Annotated[str, typer.Option("--format", help="parquet, csv or jsonl.")] = "parquet",
    master: Annotated[str, typer.Option(help="Spark master.")] = "local[*]",
    checkpoint: Annotated[Path | None, typer.Option(help="Folder that makes the run resumable.")] = None,
    batch_rows: Annotated[int, typer.Option(help="About how many readings a batch may have.")] = 1_000_000,
    project: Annotated[Path | None, typer.Option(help="Project folder with a catalogue.")] = None,
    max_tuples: MaxTuples = None,
    max_seconds: MaxSeconds = None,
    max_stages: MaxStages = None,
    max_list_length: MaxListLength = None,
    buckets: Annotated[
        int | None,
        typer.Option(help="Over how many buckets Spark spreads state; as many as there are cores if not given."),
    ] = None,
) -> None:
    """Run a script's views until the input is used up, or until Ctrl-C.

    Example: skerry run traffic.sql --runtime fjord --format csv --out answers
    """
    sink = make_sink("files", {"folder": str(out), "format": format_})
    settings = Settings(runtime, master, checkpoint, batch_rows, buckets)
    limits = read_limits(max_tuples, max_seconds, max_stages, max_list_length)
    answers: list[str] = []
    database = open_script(script, project, limits, lambda rows: answers.append(format_rows(rows)))
    typer.echo("".join(answers), nl=False)
    if subscriptions:
        database.subscribe(read_subscriptions(subscriptions))
    if answers and not database.has_queries:
        return
    started = time.monotonic()
    with interruptible() as stopped, Console(stderr=True).status(f"starting {runtime}") as status:
        outcome = database.run(sink, settings, stopped=stopped.is_set, watch=_Watch(status))
    typer.echo(summarize(outcome, runtime, time.monotonic() - started, out))
    if outcome.failures:
        raise RunError(f"stopped before the end: {', '.join(sorted(outcome.failures))}; all other views are complete")


@contextmanager
def interruptible(*signals: signal.Signals) -> Iterator[Event]:
    """Turn signals, of themselves Ctrl-C alone, into a word to stop; a second Ctrl-C ends at once."""
    stopped = Event()

    def stop(*_: object) -> None:
        stopped.set()
        signal.signal(signal.SIGINT, signal.default_int_handler)

    before = {each: signal.signal(each, stop) for each in signals or (signal.SIGINT,)}
    try:
        yield stopped
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


class _Watch:
    """Shows how far a run has come, on a terminal."""

    def __init__(self, status: Status) -> None:
        self._status, self._started = status, time.monotonic()

    def __call__(self, outcome: Outcome) -> None:
        read = sum(tally.read for tally in outcome.tallies.values())
        rate = read / max(time.monotonic() - self._started, 1e-9)
        self._status.update(f"batch {outcome.batches}: {read:,} readings, {rate:,.0f} a second")
