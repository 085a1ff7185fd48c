"""``skerry verify``: both runtimes, one answer."""

from pathlib import Path
from typing import Annotated

import pyarrow as pa
import typer

from skerry.cli.run import interruptible
from skerry.cli.script import opened
from skerry.database import RUNTIMES, Settings
from skerry.errors import InputError, RunError
from skerry.sinks.sink import MemorySink
from skerry.sources.opening import open_connector

__all__ = ["verify"]


def verify(
    script: Annotated[Path, typer.Argument(help="SQL statements: bounded sources and views.")],
    master: Annotated[str, typer.Option(help="Spark master.")] = "local[*]",
    batch_rows: Annotated[int, typer.Option(help="About how many readings a batch may have.")] = 1_000_000,
    project: Annotated[Path | None, typer.Option(help="Project folder with a catalogue.")] = None,
) -> None:
    """Run a script on both runtimes and compare the answers, row by row.

    Example: skerry verify traffic.sql
    """
    database = opened(script, project)
    for source in database.catalog.sources():
        if source.connector == "spark" or open_connector(source, Path.cwd()).live:
            raise InputError(f"source {source.name!r} has no end; only bounded input can be compared")
    sinks = {runtime: MemorySink() for runtime in RUNTIMES}
    with interruptible() as stopped:
        for runtime, sink in sinks.items():
            database.run(sink, Settings(runtime, master, None, batch_rows), stopped=stopped.is_set)
    spark, fjord = sinks["spark"], sinks["fjord"]
    different = [output for output in spark.outputs() if not _report(output, spark.table(output), fjord.table(output))]
    if different:
        raise RunError(f"the runtimes disagree on {', '.join(different)}")


def _report(output: str, spark: pa.Table, fjord: pa.Table) -> bool:
    equal = _sorted(spark).equals(_sorted(fjord))
    typer.echo(
        f"{output}: {'equal' if equal else 'DIFFERENT'}, {spark.num_rows} rows on spark, {fjord.num_rows} on fjord"
    )
    return equal


def _sorted(table: pa.Table) -> pa.Table:
    """Rows in one order, whatever the order of arrival."""
    rows = sorted(table.to_pylist(), key=lambda row: [(value is None, str(value)) for value in row.values()])
    return pa.Table.from_pylist(rows, table.schema)
