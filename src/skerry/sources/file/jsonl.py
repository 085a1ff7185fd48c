"""JSON lines: an object a line."""

import json
from typing import Any

import pyarrow as pa

from skerry.model.duckdb_session import query_batch
from skerry.sources.file.text import Lines, Parsed, TextLane

__all__ = ["JsonLane"]


class JsonLane(TextLane):
    """A file of JSON lines. Keys are the names of columns; others are passed over.

    A key that is missing or null is NULL; of a key that stands twice, the first counts. Numbers and truth
    values are read by their text, lists and objects as their JSON text. A line that is not an object is
    a dead letter.
    """

    def check(self) -> None:
        """Take any file: what a line holds is seen when it is read."""

    def event_time_of(self, line: str) -> str | None:
        """Find the value of the event time."""
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):
            return None
        value = found.get(self._definition.event_time) if isinstance(found, dict) else None
        return value if isinstance(value, str) else None

    def parse(self, lines: Lines) -> Parsed:
        """Let DuckDB take the objects apart, all declared keys at once."""
        names = self._definition.schema.names
        found = query_batch(_statement(names), pa.record_batch({"line": lines.text.cast(pa.string())}))
        fits: Any = found.column("fits").to_numpy(zero_copy_only=False)
        objects, rejects = lines.reject(~fits, "not a JSON object")
        texts = found if fits.all() else found.filter(pa.array(fits))
        return Parsed(pa.RecordBatch.from_arrays(texts.columns[1:], names), objects, rejects)


def _statement(names: list[str]) -> str:
    """Write the extraction of some keys in SQL; a key is quoted as a JSON pointer, and that as a text."""
    pointers = ", ".join(_quote("/" + name.replace("~", "~0").replace("/", "~1")) for name in names)
    columns = ", ".join(f"found[{index}] AS c{index}" for index in range(1, len(names) + 1))
    return f"""
        SELECT coalesce(json_type(object) = 'OBJECT', false) AS fits, {columns}
        FROM (SELECT object, json_extract_string(object, [{pointers}]) AS found
              FROM (SELECT CASE WHEN json_valid(line) THEN line END AS object FROM unit))
    """


def _quote(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
