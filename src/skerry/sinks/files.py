"""Answers as files: one folder an output, one file a batch that has rows.

A file is written beside its place and moved there, so that a reader never sees half of one, and a
batch that runs again replaces its own file.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet

from skerry.errors import OptionError
from skerry.model.batch import empty
from skerry.sinks.sink import Sink

__all__ = ["FORMATS", "FileSink"]

FORMATS = ("parquet", "csv", "jsonl")


class FileSink(Sink):
    """Writes ``DIR/output/part-00000007.csv`` for batch 7."""

    def __init__(self, directory: Path, format_: str) -> None:
        if format_ not in FORMATS:
            raise OptionError(f"unknown format {format_!r}; known are {', '.join(FORMATS)}")
        self._directory, self._format = directory, format_
        self._schemas: dict[str, pa.Schema] = {}

    def open(self, outputs: Mapping[str, pa.Schema], *, resume: bool) -> None:
        """Make the folders, and empty them of an earlier run's parts."""
        self._schemas = dict(outputs)
        for output in outputs:
            folder = self._directory / output
            folder.mkdir(parents=True, exist_ok=True)
            for part in [] if resume else _parts(folder):
                part.unlink()

    def write(self, output: str, number: int, rows: pa.RecordBatch) -> None:
        """Write one batch's file; without rows, make sure there is none."""
        place = self._directory / output / f"part-{number:08d}.{self._format}"
        if rows.num_rows == 0:
            place.unlink(missing_ok=True)
            return
        self._write(place, rows)

    def close(self) -> None:
        """Leave an output without answers with one empty file, so that its columns can be read."""
        for output, schema in self._schemas.items():
            if not any(_parts(self._directory / output)):
                self._write(self._directory / output / f"part-{0:08d}.{self._format}", empty(schema))

    def _write(self, place: Path, rows: pa.RecordBatch) -> None:
        beside = place.with_name(f".{place.name}.tmp")
        _WRITERS[self._format](beside, pa.Table.from_batches([rows]))
        os.replace(beside, place)


def _parts(folder: Path) -> list[Path]:
    return sorted(part for part in folder.glob("part-*") if part.suffix[1:] in FORMATS)


def _write_parquet(place: Path, table: pa.Table) -> None:
    pyarrow.parquet.write_table(table, place)


def _write_csv(place: Path, table: pa.Table) -> None:
    columns = [_as_csv(table.column(name).combine_chunks()) for name in table.column_names]
    pyarrow.csv.write_csv(pa.table(columns, table.column_names), place)


def _write_jsonl(place: Path, table: pa.Table) -> None:
    with place.open("w", encoding="utf-8") as file:
        for row in pa.table([_as_text(table.column(n).combine_chunks()) for n in table.column_names], table.column_names).to_pylist():
            file.write(json.dumps(row, ensure_ascii=False, default=_plain) + "\n")


_WRITERS = {"parquet": _write_parquet, "csv": _write_csv, "jsonl": _write_jsonl}


def _as_csv(column: pa.Array) -> pa.Array:
    if pa.types.is_nested(column.type):
        return pa.array([None if v is None else json.dumps(v, ensure_ascii=False, default=_plain) for v in column.to_pylist()], pa.string())
    return _as_text(column)


def _as_text(column: pa.Array) -> pa.Array:
    """Timestamps with all six digits; whole decimals as integers' text in csv."""
    if pa.types.is_timestamp(column.type):
        return pc.strftime(column.cast(pa.timestamp("us")), format="%Y-%m-%d %H:%M:%S")
    if pa.types.is_interval(column.type):
        return pa.array([None if v is None else str(v) for v in column.to_pylist()], pa.string())
    return column


def _plain(value: object) -> object:
    """What JSON has no word for: a whole decimal is a number, the rest is its text."""
    return int(str(value)) if str(value).lstrip("-").isdigit() else str(value)
