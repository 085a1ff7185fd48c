"""Rows in files, format by format: how they are written, and how files are put together."""

import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from skerry.errors import RunError
from skerry.sinks.values import to_csv, to_json, to_parquet, to_text

__all__ = ["FORMATS", "merge_files", "write_rows"]

_MERGED_ROWS = 1 << 17
"""So many rows, or a few more, are a row group of a file that was put together."""


def write_rows(path: Path, rows: pa.RecordBatch, format_: str) -> None:
    """Write a file of some rows."""
    _WRITERS[format_](path, pa.Table.from_batches([rows]))


def merge_files(parts: Sequence[Path], merged: Path, format_: str) -> None:
    """Write one file of the rows of several, in their order."""
    _MERGERS[format_](parts, merged)


def _write_parquet(path: Path, table: pa.Table) -> None:
    """Store texts by dictionary, for they repeat, and whole numbers and times by their differences, which are small."""
    stored = _convert_columns(to_parquet, table)
    pyarrow.parquet.write_table(stored, path, **_choose_encodings(stored.schema))


def _choose_encodings(schema: pa.Schema) -> dict[str, Any]:
    leaves = {name: type_ for field in schema for name, type_ in _find_leaves(field.name, field.type)}
    texts = [name for name, type_ in leaves.items() if pa.types.is_string(type_)]
    whole = [name for name, type_ in leaves.items() if _is_whole(type_)]
    return {"use_dictionary": texts, "column_encoding": dict.fromkeys(whole, "DELTA_BINARY_PACKED")}


def _find_leaves(path: str, type_: pa.DataType) -> Iterator[tuple[str, pa.DataType]]:
    """What a column holds in the end, by the paths that Parquet gives it.

    >>> list(_find_leaves("members", pa.list_(pa.struct({"ts": pa.int64()}))))
    [('members.list.element.ts', DataType(int64))]
    """
    if pa.types.is_list(type_) or pa.types.is_fixed_size_list(type_):
        yield from _find_leaves(f"{path}.list.element", type_.value_type)
    elif pa.types.is_map(type_):
        yield from _find_leaves(f"{path}.key_value.key", type_.key_type)
        yield from _find_leaves(f"{path}.key_value.value", type_.item_type)
    elif pa.types.is_struct(type_):
        for index in range(type_.num_fields):
            yield from _find_leaves(f"{path}.{type_.field(index).name}", type_.field(index).type)
    else:
        yield path, type_


def _is_whole(type_: pa.DataType) -> bool:
    return pa.types.is_integer(type_) or pa.types.is_timestamp(type_)


def _write_csv(path: Path, table: pa.Table) -> None:
    if table.num_columns == 1 and table.column(0).null_count:  # an empty line is no row to most readers
        text = to_csv(table.column(0).combine_chunks()).cast(pa.string())
        table = pa.table([text.fill_null("")], table.column_names)
    pyarrow.csv.write_csv(_convert_columns(to_csv, table), path)


def _write_jsonl(path: Path, table: pa.Table) -> None:
    with path.open("w", encoding="utf-8") as file:
        for row in _convert_columns(to_text, table).to_pylist(maps_as_pydicts="lossy"):
            file.write(json.dumps(to_json(row), ensure_ascii=False) + "\n")


def _convert_columns(convert: Callable[[pa.Array], pa.Array], table: pa.Table) -> pa.Table:
    return pa.table([convert(column.combine_chunks()) for column in table.columns], table.column_names)


def _merge_parquet(parts: Sequence[Path], merged: Path) -> None:
    """Row groups that are small become larger ones; no more than one of them is in memory."""
    schema = pyarrow.parquet.read_schema(parts[0])
    with pyarrow.parquet.ParquetWriter(merged, schema, **_choose_encodings(schema)) as writer:
        waiting: list[pa.Table] = []
        for group in _read_groups(parts):
            waiting.append(group)
            if sum(table.num_rows for table in waiting) >= _MERGED_ROWS:
                writer.write_table(pa.concat_tables(waiting))
                waiting = []
        if waiting:
            writer.write_table(pa.concat_tables(waiting))


def _read_groups(parts: Sequence[Path]) -> Iterator[pa.Table]:
    for part in parts:
        with pyarrow.parquet.ParquetFile(part) as file:
            for group in range(file.num_row_groups):
                yield file.read_row_group(group, use_threads=False)


def _merge_csv(parts: Sequence[Path], merged: Path) -> None:
    """The first file with its header, the others without theirs, which must be the same."""
    header = _read_header(parts[0])
    with merged.open("wb") as file:
        file.write(header)
        for part in parts:
            with part.open("rb") as rows:
                if rows.read(len(header)) != header:
                    raise RunError(f"cannot put {str(part)!r} together with others: it has other columns")
                shutil.copyfileobj(rows, file)


def _read_header(part: Path) -> bytes:
    """The line with the names, each of which is quoted: line ends within quotes do not end it."""
    header, quotes = b"", 0
    with part.open("rb") as file:
        for line in file:
            header, quotes = header + line, quotes + line.count(b'"')
            if quotes % 2 == 0:
                break
    return header


def _merge_jsonl(parts: Sequence[Path], merged: Path) -> None:
    with merged.open("wb") as file:
        for part in parts:
            with part.open("rb") as rows:
                shutil.copyfileobj(rows, file)


_WRITERS: Mapping[str, Callable[[Path, pa.Table], None]] = {
    "parquet": _write_parquet,
    "csv": _write_csv,
    "jsonl": _write_jsonl,
}
_MERGERS: Mapping[str, Callable[[Sequence[Path], Path], None]] = {
    "parquet": _merge_parquet,
    "csv": _merge_csv,
    "jsonl": _merge_jsonl,
}
FORMATS = tuple(_WRITERS)
