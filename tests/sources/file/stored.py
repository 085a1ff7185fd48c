"""Files made for a test, and all that a connector reads from them."""

import dataclasses
import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa

from skerry.catalog import Source
from skerry.model.types import SQL_TYPES
from skerry.sources.file import FileConnector
from skerry.sources.source import Decoded, Split

COLUMNS = {"sensor": "VARCHAR", "ts": "TIMESTAMP", "lane": "INT", "speed": "DOUBLE", "open": "BOOLEAN"}
HEADER = ",".join(COLUMNS)


def opened(
    path: Path,
    /,
    columns: dict[str, str] = COLUMNS,
    event_time: str | None = "ts",
    block_bytes: int | None = None,
    **options: str,
) -> FileConnector:
    """Open a file, or all that a pattern matches, in blocks of a size that suits a test."""
    schema = pa.schema([(name, SQL_TYPES[type_]) for name, type_ in columns.items()])
    source = Source("s", schema, "file", {"path": path.name, **options}, event_time)
    connector = FileConnector.open(source, path.parent)
    return connector if block_bytes is None else dataclasses.replace(connector, block_bytes=block_bytes)


def decoded(connector: FileConnector) -> list[Decoded]:
    """Read all lanes, each in one split."""
    lanes = connector.lanes()
    return [unit for lane in lanes for unit in connector.read(Split("s", lane.name, 0, lane.count()))]


def readings(connector: FileConnector) -> list[dict[str, Any]]:
    return [row for unit in decoded(connector) for row in unit.readings.to_pylist()]


def reasons(connector: FileConnector) -> list[str]:
    return [letter["reason"] for unit in decoded(connector) for letter in unit.rejects.to_pylist()]


def read_bytes(name: str, data: bytes, **how: Any) -> tuple[list[dict[str, Any]], list[tuple[str, str, int]]]:
    """Write a file, read it, and give its readings and its dead letters, the latter with the byte they stood at."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / name
        path.write_bytes(data)
        connector = opened(path, **how)
        units = decoded(connector)
        rows = [row for unit in units for row in unit.readings.to_pylist()]
        letters = [letter for unit in units for letter in unit.rejects.to_pylist()]
        where = f"{path}:byte "
        found = [(letter["reason"], letter["reading"], int(letter["place"].removeprefix(where))) for letter in letters]
        return rows, found
