"""``skerry run``: carry a script out and keep its views answered."""

import time
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.status import Status

from skerry.cli.compile_notes import note_compilations
from skerry.cli.interrupt import interruptible
from skerry.cli.leave_out_pandas import leave_out_pandas
from skerry.cli.limits import MaxListLength, MaxSeconds, MaxStages, MaxTuples, read_limits
from skerry.cli.project import open_for_run
from skerry.cli.script import read_script
from skerry.cli.sql import format_rows
from skerry.cli.summary import Pace, describe_progress, summarize
from skerry.database import Settings
from skerry.errors import RunError
from skerry.model.spark_format import split_list
from skerry.pipeline.outcome import Outcome
from skerry.sinks.sinks import make_sink
from skerry.subscriptions.file import read_subscriptions

__all__ = ["run"]


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
    scheduler: Annotated[
        str | None, typer.Option(help="In process, who works next: round-robin, tickets or frequencies.")
    ] = None,
    history: Annotated[
        bool | None,
        typer.Option(
            "--history/--no-history",
            help="Keep all accepted readings, or none; without it those of a project's live sources are kept.",
        ),
    ] = None,
    spark_packages: Annotated[
        str, typer.Option(help="Libraries for Spark by their Maven names, GROUP:NAME:VERSION, behind commas.")
    ] = "",
    spark_jars: Annotated[str, typer.Option(help="Libraries for Spark in files, behind commas.")] = "",
    processes: Annotated[
        int, typer.Option(help="In process, over how many processes the states of views are spread.")
    ] = 1,
) -> None:
    """Run a script's views until the input is used up, or until Ctrl-C.

    Views that come to the project or go meanwhile (skerry queries) are taken up with the next batch, on Spark or in one
    process. A run in a network, or with --processes, keeps the views that it began with.

    Example: skerry run traffic.sql --runtime fjord --format csv --out answers
    """
    if runtime != "spark":
        leave_out_pandas()
    sink = make_sink("files", {"folder": str(out), "format": format_})
    settings = Settings(
        *(runtime, master, checkpoint, batch_rows, buckets, scheduler, history),
        spark_packages=split_list(spark_packages),
        spark_jars=split_list(spark_jars),
        processes=processes,
    )
    limits = read_limits(max_tuples, max_seconds, max_stages, max_list_length)
    answers: list[str] = []
    text, database = read_script(script), open_for_run(project, limits)
    if not database.has_begun(settings, text):
        database.execute(text, lambda rows: answers.append(format_rows(rows)))
        typer.echo("".join(answers), nl=False)
        if subscriptions:
            database.subscribe(read_subscriptions(subscriptions))
    if not database.has_queries and (answers or project):
        typer.echo(
            "" if answers else f"{script} is in the catalogue of {project}; there is no view to run yet", nl=not answers
        )
        return
    with interruptible() as stopped, Console(stderr=True).status(f"starting {runtime}") as status:
        watch = _Watch(status)
        with note_compilations(watch.note):
            outcome = database.run(sink, settings, stopped=stopped.is_set, watch=watch, note=watch.note, script=text)
    typer.echo(summarize(outcome, Pace(runtime, watch.seconds, was_stopped=stopped.is_set()), out))
    if outcome.failures:
        raise RunError(f"stopped before the end: {', '.join(sorted(outcome.failures))}; all other views are complete")


class _Watch:
    """Shows how far a run has come, on a terminal."""

    def __init__(self, status: Status) -> None:
        self._status, self._started = status, time.monotonic()

    def note(self, text: str) -> None:
        """Show what the run waits for."""
        self._status.update(f"starting: {text}")

    def __call__(self, outcome: Outcome) -> None:
        self._status.update(describe_progress(outcome, self.seconds))

    @property
    def seconds(self) -> float:
        """For how long the run has gone on."""
        return time.monotonic() - self._started
