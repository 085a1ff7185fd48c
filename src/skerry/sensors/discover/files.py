"""Readings in files: the first rows of each, as if they had been heard."""

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from glob import glob
from itertools import chain, islice
from pathlib import Path
from typing import Any, TextIO

import pyarrow as pa
import pyarrow.parquet as pq

from skerry.errors import InputError
from skerry.model.text_encoding import explain_encoding
from skerry.model.time import Micros
from skerry.model.types import has_sql_name, sql_name
from skerry.sensors.discover.computed_columns import find_computed
from skerry.sensors.discover.csv_dialect import CsvDialect, find_dialect
from skerry.sensors.discover.propose import Proposal, propose_source
from skerry.sensors.discover.samples import Reading
from skerry.sensors.discover.topics import TopicGroup

__all__ = ["propose_files"]

_MOST_LINES = 20_000
_LONGEST_LINE = 1 << 20
_ENCODINGS = {".csv": "CSV", ".jsonl": "JSON", ".ndjson": "JSON", ".json": "JSON", ".parquet": "Parquet"}
_PACKED = (".gz", ".zst")
_HEAD_BYTES = 4096


@dataclass(frozen=True)
class _Found:
    """Readings, and what is known of their columns without looking at values."""

    values: Sequence[Mapping[str, Any]]
    types: Mapping[str, str] = field(default_factory=dict)
    computed: Mapping[str, str] = field(default_factory=dict)
    """How columns are declared that the file does not have."""
    options: Mapping[str, str] = field(default_factory=dict)
    left_out: Sequence[str] = ()


def propose_files(pattern: str, base: Path) -> Proposal:
    """What the files of a pattern hold."""
    files = sorted(Path(found) for found in glob(str(base / pattern)))
    if not files:
        raise InputError(f"no file fits {pattern!r}")
    unknown = next((file for file in files if _find_suffix(file) not in _ENCODINGS), None)
    if unknown is not None:
        known = f"{', '.join(_ENCODINGS)}, text also with {' or '.join(_PACKED)} behind it"
        raise InputError(f"cannot tell what {unknown.name!r} holds; known are {known}")
    encoding = _ENCODINGS[_find_suffix(files[0])]
    read = {"CSV": _read_csv, "JSON": _read_json, "Parquet": _read_parquet}[encoding]
    found = read(files, max(1, _MOST_LINES // len(files)))
    if not found.values:
        lines = "; JSON has one object per line: jq -c '.[]' FILE.json > FILE.jsonl splits a list"
        raise InputError(f"there is no reading in {pattern!r}{lines if encoding == 'JSON' else ''}")
    readings = [Reading((pattern,), each, Micros(0)) for each in found.values]
    made = propose_source(_NamedGroup((pattern,), None), readings, {})
    types = {name: type_ for name, type_ in found.types.items() if not made.event_time or name != made.event_time.name}
    columns = {name: found.computed.get(name, types.get(name, type_)) for name, type_ in made.columns.items()}
    left_out = (f"columns that cannot be read: {', '.join(found.left_out)}",) if found.left_out else ()
    return replace(made, encoding=encoding, columns=columns, file_options=found.options, notes=(*made.notes, *left_out))


class _NamedGroup(TopicGroup):
    """Files in place of topics: called after what all have in their name, or after their folder."""

    @property
    def name(self) -> str:
        path = Path(self.pattern[0])
        for part in (path.name.partition(".")[0], path.parent.name):
            found = re.sub(r"\W+", "_", part.lower(), flags=re.ASCII).strip("_")
            if found and not found[0].isdigit():
                return found
        return "readings"


def _find_suffix(file: Path) -> str:
    is_packed = file.suffix.lower() in _PACKED
    return (file.with_suffix("") if is_packed else file).suffix.lower()


@contextmanager
def _open(file: Path) -> Iterator[TextIO]:
    """The text of a file, compressed or not, without the mark that some editors put in front of it."""
    try:
        with pa.input_stream(str(file)) as stream:
            problem = explain_encoding(str(file), stream.read(_HEAD_BYTES))
        if problem:
            raise InputError(problem)
        with pa.input_stream(str(file)) as stream:
            yield io.TextIOWrapper(stream, encoding="utf-8-sig", newline="")
    except UnicodeDecodeError as error:
        raise InputError(explain_encoding(str(file), error.object) or f"{str(file)!r} is not UTF-8") from None
    except (OSError, csv.Error, pa.ArrowException) as error:
        raise InputError(f"cannot read {str(file)!r}: {getattr(error, 'strerror', None) or error}") from None


def _read_csv(files: Sequence[Path], most: int) -> _Found:
    """The fields of all files, which are like the first that has a line."""
    dialect = CsvDialect()
    rows: list[Mapping[str, str | None]] = []
    for file in files:
        with _open(file) as lines:
            first = lines.readline(_LONGEST_LINE)
            dialect = dialect if dialect.names or not first else find_dialect(first)
            rows += islice(dialect.read(chain([first], lines)), most)
    computed = find_computed(rows, dialect.names, dialect.delimiter)
    values = [
        {**{name: _guess(value) for name, value in row.items()}, **{each.name: each.compute(row) for each in computed}}
        for row in rows
    ]
    return _Found(values, computed={each.name: each.declaration for each in computed}, options=dialect.options)


def _read_json(files: Sequence[Path], most: int) -> _Found:
    values: list[Mapping[str, Any]] = []
    for file in files:
        with _open(file) as lines:
            values += islice(_read_objects(lines), most)
    return _Found(values)


def _read_objects(lines: TextIO) -> Iterator[Mapping[str, Any]]:
    while line := lines.readline(_LONGEST_LINE):
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict):
            yield found


def _read_parquet(files: Sequence[Path], most: int) -> _Found:
    values: list[Mapping[str, Any]] = []
    types: dict[str, str] = {}
    left_out: dict[str, None] = {}
    for file in files:
        try:
            with pq.ParquetFile(file) as opened:
                schema = opened.schema_arrow
                kept = [each.name for each in schema if has_sql_name(each.type) or not pa.types.is_nested(each.type)]
                first = next(opened.iter_batches(batch_size=most, columns=kept), None)
        except (OSError, pa.ArrowException) as error:
            raise InputError(f"cannot read {str(file)!r}: {error}") from None
        types |= {each.name: sql_name(each.type) for each in schema if has_sql_name(each.type)}
        left_out |= dict.fromkeys(name for name in schema.names if name not in kept)
        values += [] if first is None else _to_microseconds(first).to_pylist()
    return _Found(values, types, left_out=list(left_out))


def _to_microseconds(rows: pa.RecordBatch) -> pa.RecordBatch:
    """Times in the unit that Python has too."""
    columns = [
        column.cast(pa.timestamp("us", column.type.tz), safe=False) if pa.types.is_timestamp(column.type) else column
        for column in rows.columns
    ]
    return pa.RecordBatch.from_arrays(columns, rows.schema.names)


def _guess(value: str | None) -> object:
    """A field of csv as the value that it looks like."""
    if value is None or not value:
        return None
    if re.fullmatch(r"-?[0-9]{1,18}", value):
        return int(value)
    if value.lower() in ("true", "false"):
        return value.lower() == "true"
    try:
        return float(value)
    except ValueError:
        return value
