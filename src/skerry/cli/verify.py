"""``skerry verify``: both runtimes, one answer."""

from collections import Counter
from pathlib import Path
from typing import Annotated

import pyarrow as pa
import typer

from skerry.cli.interrupt import interruptible
from skerry.cli.limits import MaxListLength, MaxSeconds, MaxStages, MaxTuples, read_limits
from skerry.cli.script import open_script
from skerry.cli.summary import count
from skerry.database import Database, Settings
from skerry.errors import InputError, RunError
from skerry.sinks.memory import MemorySink

__all__ = ["verify"]


def verify(
    script: Annotated[Path, typer.Argument(help="SQL statements: bounded sources and views.")],
    master: Annotated[str, typer.Option(help="Spark master.")] = "local[*]",
    batch_rows: Annotated[int, typer.Option(help="About how many readings a batch may have.")] = 1_000_000,
    project: Annotated[Path | None, typer.Option(help="Project folder with a catalogue.")] = None,
    max_tuples: MaxTuples = None,
    max_seconds: MaxSeconds = None,
    max_stages: MaxStages = None,
    max_list_length: MaxListLength = None,
) -> None:
    """Run a script on both runtimes and compare the answers, row by row.

    Example: skerry verify traffic.sql
    """
    database = open_script(script, project, read_limits(max_tuples, max_seconds, max_stages, max_list_length))
    _check_sources(database)
    sinks = {runtime: MemorySink() for runtime in ("spark", "fjord")}
    with interruptible() as stopped:
        for runtime, sink in sinks.items():
            database.run(sink, Settings(runtime, master, None, batch_rows), stopped=stopped.is_set)
    if stopped.is_set():
        raise RunError("stopped before the answers could be compared")
    spark, fjord = sinks["spark"], sinks["fjord"]
    different = [output for output in spark.outputs() if not _report(output, spark.table(output), fjord.table(output))]
    if different:
        raise RunError(f"the runtimes disagree on {', '.join(different)}")


def _check_sources(database: Database) -> None:
    for plan in database.plans():
        for source in plan.sources:
            if source.connector == "spark":
                raise InputError(f"source {source.name!r} is read by Spark alone; there is nothing to compare it with")
    for connector in database.pipeline(database.plans(), Settings("fjord")).connectors:
        if connector.live:
            reason = f"source {connector.definition.name!r} has no end"
            raise InputError(f"{reason}; only bounded input can be compared")


def _report(output: str, spark: pa.Table, fjord: pa.Table) -> bool:
    equal = _rows(spark) == _rows(fjord)
    rows = count(spark.num_rows, "row", "rows")
    typer.echo(f"{output}: {'equal' if equal else 'DIFFERENT'}, {rows} on spark, {fjord.num_rows} on fjord")
    return equal


def _rows(table: pa.Table) -> Counter[str]:
    """Rows in whatever order, spelled out so that NaN equals NaN."""
    return Counter(map(repr, table.to_pylist()))
