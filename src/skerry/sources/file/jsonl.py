"""JSON lines: an object a line."""

import json

import pyarrow as pa

from skerry.model.arrays import Bools
from skerry.model.duckdb_session import query_batch
from skerry.model.types import is_json
from skerry.sources.file.conform import Column
from skerry.sources.file.text import Lines, Parsed, TextLane

__all__ = ["NO_OBJECT", "JsonLane", "extract_texts"]

NO_OBJECT = "not a JSON object"
"""Why a line that is something else is rejected."""


class JsonLane(TextLane):
    """A file of JSON lines. Keys are the names of columns, in any case; others are passed over.

    A key that is missing or null is NULL; of a key that stands twice, the first counts. A key that is written as the
    column is goes before those in another case, and of these the first counts. Numbers and truth
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
        if not isinstance(found, dict):
            return None
        name = str(self._definition.event_time)
        keys = [name] if name in found else [key for key in found if key.casefold() == name.casefold()]
        value = found[keys[0]] if keys else None
        is_number = isinstance(value, int | float) and self._options.event_time_unit is not None
        return str(value) if is_number else value if isinstance(value, str) else None

    def parse(self, lines: Lines) -> Parsed:
        """Let DuckDB take the objects apart, all declared keys at once."""
        fits, texts = extract_texts(lines.text.cast(pa.string()), self._definition.stored_schema)
        objects, rejects = lines.reject(~fits, NO_OBJECT)
        return Parsed(texts, objects, rejects)


def extract_texts(lines: Column, schema: pa.Schema) -> tuple[Bools, pa.RecordBatch]:
    """Which lines are JSON objects, and of those the values of some keys, as texts; of JSON columns as JSON.

    >>> schema = pa.schema([("a", pa.float64()), ("b", pa.string())])
    >>> fits, texts = extract_texts(pa.array(['{"A": 1.5, "b": [1]}', "[]"]), schema)
    >>> fits.tolist(), texts.to_pylist()
    ([True, False], [{'a': '1.5', 'b': '[1]'}])
    """
    names = schema.names
    found = query_batch(_statement(schema), pa.record_batch({"line": lines}))
    fits: Bools = found.column("fits").to_numpy(zero_copy_only=False)
    texts, objects = (found, lines) if fits.all() else (found.filter(pa.array(fits)), lines.filter(pa.array(fits)))
    return fits, pa.RecordBatch.from_arrays(_add_other_cases(objects, names, texts.columns[1:]), names)


def _add_other_cases(objects: Column, names: list[str], columns: list[Column]) -> list[Column]:
    """Fill columns whose keys are written in another case. Lines in which no key is missing are not looked at again."""
    missing = {name for name, column in zip(names, columns, strict=True) if column.null_count}
    if not missing:
        return columns
    unit = pa.record_batch({"line": objects})
    keys = query_batch("SELECT DISTINCT unnest(json_keys(line)) AS key FROM unit", unit).column("key").to_pylist()
    others = {name: [key for key in keys if key != name and key.casefold() == name.casefold()] for name in missing}
    others = {name: found for name, found in others.items() if found}
    if not others:
        return columns
    wanted = ", ".join(_any_case(name, found) for name, found in others.items())
    filled = dict(zip(others, query_batch(f"SELECT {wanted} FROM unit", unit).columns, strict=True))
    return [filled.get(name, column) for name, column in zip(names, columns, strict=True)]


def _any_case(name: str, others: list[str]) -> str:
    """Write in SQL: the value of a key or, where it is not there, of the first that differs from it in case alone."""
    alike = ", ".join(map(_quote, others))
    first = f"list_filter(json_keys(line), lambda key: key IN ({alike}))[1]"
    other = f"json_extract_string(line, '/' || replace(replace({first}, '~', '~0'), '/', '~1'))"
    exact = _quote(_to_pointer(name))
    return f"CASE WHEN json_exists(line, {exact}) THEN json_extract_string(line, {exact}) ELSE {other} END"


def _to_pointer(key: str) -> str:
    return "/" + key.replace("~", "~0").replace("/", "~1")


def _statement(schema: pa.Schema) -> str:
    """Write the extraction of some keys in SQL; a key is quoted as a JSON pointer, and that as a text."""
    pointers = ", ".join(_quote(_to_pointer(name)) for name in schema.names)
    columns = ", ".join(f"{_extract(field, index)} AS c{index}" for index, field in enumerate(schema, 1))
    return f"""
        SELECT coalesce(json_type(object) = 'OBJECT', false) AS fits, {columns}
        FROM (SELECT object, json_extract_string(object, [{pointers}]) AS found
              FROM (SELECT CASE WHEN json_valid(line) THEN line END AS object FROM unit))
    """


def _extract(field: pa.Field, index: int) -> str:
    """Write the value of a key in SQL: as a text, or as it stands there if JSON is asked for."""
    if not is_json(field):
        return f"found[{index}]"
    value = f"json_extract(object, {_quote(_to_pointer(field.name))})::VARCHAR"
    return f"CASE WHEN found[{index}] IS NOT NULL THEN {value} END"


def _quote(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
