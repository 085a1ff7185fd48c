"""Messages as they came, taken apart into readings: one object, a list of them, or a list under ``readings``."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from skerry.model.duckdb_session import query_batch
from skerry.model.time import Micros
from skerry.sources.dead_letters import SHOWN_BYTES, show_line
from skerry.sources.file.jsonl import NO_OBJECT
from skerry.sources.spool.frame import RECEIVED

__all__ = ["Message", "unfold"]

_UNFOLD = """
    SELECT number, kind IS NOT NULL AS is_json, unnest(CASE
        WHEN kind = 'ARRAY' THEN json_extract(payload, '$[*]')::VARCHAR[]
        WHEN kind = 'OBJECT' AND json_type(payload, '$.readings') = 'ARRAY'
            THEN json_extract(payload, '$.readings[*]')::VARCHAR[]
        ELSE [payload] END) AS line
    FROM (SELECT number, payload, CASE WHEN is_sound AND json_valid(payload) THEN json_type(payload) END AS kind
          FROM unit)
"""
_NAME = """
    SELECT CASE WHEN is_bare THEN json_object(name, CASE WHEN is_json THEN line::JSON ELSE to_json(line) END)::VARCHAR
        ELSE line END AS line
    FROM unit
"""
_LOOK = "SELECT number, json_valid(payload) AS is_json, payload AS line FROM unit"


@dataclass(frozen=True)
class Message:
    """What came in one piece: from where, when, and why it cannot be read, if that is known already.

    ``is_repeated`` says that it may have come before.
    """

    origin: str
    payload: bytes
    arrived_us: Micros
    problem: str | None = None
    is_repeated: bool = False


def unfold(
    messages: Sequence[Message], longest: int, value_column: str | None = None
) -> tuple[pa.RecordBatch, "np.ndarray[Any, np.dtype[np.intp]]"]:
    """The readings of messages in order, and of each the number of its message. What is no object is a problem.

    With ``value_column``, what is a number, a text or a truth value is a reading with that one column.

    >>> messages = [Message("a", b'[{"x": 1}, {"x": 2}]', Micros(0)), Message("b", b"?", Micros(0))]
    >>> received, numbers = unfold(messages, longest=99)
    >>> received.column("line").to_pylist(), numbers.tolist()
    (['{"x":1}', '{"x":2}', '?'], [0, 0, 1])
    >>> received.column("problem").to_pylist()
    [None, None, 'not a JSON object']
    >>> received, _ = unfold([Message("a", b"20.5", Micros(0)), Message("a", b"ON", Micros(0))], 99, value_column="x")
    >>> received.column("line").to_pylist()
    ['{"x":20.5}', '{"x":"ON"}']
    """
    read = [_read_text(message, longest) for message in messages]
    texts, problems = (pa.array(column, pa.string()) for column in zip(*read, strict=True))
    unit = pa.record_batch(
        {"number": pa.array(range(len(messages)), pa.int64()), "payload": texts, "is_sound": pc.is_null(problems)}
    )
    found = query_batch(_UNFOLD if _may_be_folded(texts) else _LOOK, unit)
    number, lines, is_json = found.column("number"), found.column("line"), found.column("is_json")
    if value_column is not None:
        lines, is_json = _name_values(lines, is_json, problems.take(number), value_column)
    columns = [
        pa.array([message.origin for message in messages], pa.string()).take(number),
        lines,
        _add_problems(problems.take(number), lines, is_json),
        pa.array([message.arrived_us for message in messages], pa.timestamp("us")).take(number),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=RECEIVED), number.to_numpy()


def _add_problems(problems: "pa.Array[Any]", lines: "pa.Array[Any]", is_json: "pa.Array[Any]") -> "pa.Array[Any]":
    """What is wrong with readings, with those that are none: JSON that begins with a brace is an object."""
    is_object = pc.and_(is_json, pc.starts_with(pc.ascii_ltrim_whitespace(lines), "{"))
    return pc.coalesce(problems, pc.if_else(is_object, pa.scalar(None, pa.string()), NO_OBJECT))


def _name_values(
    lines: "pa.Array[Any]", is_json: "pa.Array[Any]", problems: "pa.Array[Any]", name: str
) -> "tuple[pa.Array[Any], pa.Array[Any]]":
    """What is neither an object nor a list, nor begins like one, as an object with one key."""
    is_other = pc.match_substring_regex(lines, r"^\s*([\[{]|$)")
    is_bare = pc.and_(pc.invert(is_other), pc.is_null(problems))
    if not pc.any(is_bare).as_py():
        return lines, is_json
    names = pa.array([name] * len(lines), pa.string())
    unit = pa.record_batch({"line": lines, "is_json": is_json, "is_bare": is_bare, "name": names})
    return query_batch(_NAME, unit).column("line"), pc.or_(is_json, is_bare)


def _may_be_folded(texts: "pa.Array[Any]") -> bool:
    """Whether some message may have several readings."""
    is_list = pc.starts_with(pc.ascii_ltrim_whitespace(texts), "[")
    return bool(pc.any(pc.or_(is_list, pc.match_substring(texts, '"readings"'))).as_py())


def _read_text(message: Message, longest: int) -> tuple[str, str | None]:
    """A message as text, or what can be shown of it and the reason."""
    payload, problem = message.payload, message.problem
    if problem is None and len(payload) > longest:
        problem = f"message of {len(payload)} bytes, at most {longest}"
    if problem is None:
        try:
            return payload.decode(), None
        except UnicodeDecodeError:
            problem = "not valid UTF-8"
    return show_line(payload[:SHOWN_BYTES]).replace("\0", " ") or " ", problem
