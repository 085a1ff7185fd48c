"""Subscriptions from a file: JSON lines or Parquet, with id, stream, predicate and perhaps sink."""

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet

from skerry.catalog import Subscription
from skerry.errors import InputError
from skerry.model.bulk_load import load_in_bulk

__all__ = ["read_subscriptions"]

_NEEDED = ("id", "stream", "predicate")
_KNOWN = (*_NEEDED, "sink")
_USUAL = ([str, str, str, type(None)], [str, str, str, str])
_LONGEST_LINE_BYTES = 1 << 20
_DEEPEST = 32
"""How deep lists and objects may be nested in a line. A subscription needs one object; parsers recurse, and run out."""
_BRACKET_OR_TEXT = re.compile(r'"(?:[^"\\]|\\.)*"|[\[{]|[\]}]')


class _Entry(NamedTuple):
    """What stands in one line or row, and where that is."""

    where: str
    values: dict[str, Any]


def read_subscriptions(path: Path) -> list[Subscription]:
    """All subscriptions of a file. The first wrong one is named by its line, or its row from 1."""
    if not path.is_file():
        raise InputError(f"there is no file {str(path)!r} with subscriptions")
    try:
        with load_in_bulk():
            entries = _read_parquet(path) if path.suffix == ".parquet" else _read_lines(path)
            return [_read_entry(entry) for entry in entries]
    except (pa.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0]
        raise InputError(f"cannot read subscriptions from {str(path)!r}: {reason}") from None


def _read_parquet(path: Path) -> Iterator[_Entry]:
    names = pa.parquet.read_schema(path).names
    rows = pa.parquet.read_table(path, columns=[name for name in _KNOWN if name in names]).to_pylist()
    return (_Entry(f"{str(path)!r}, entry {number}", row) for number, row in enumerate(rows, 1))


def _read_lines(path: Path) -> Iterator[_Entry]:
    with path.open("rb") as file:
        for number, line in enumerate(_cut_overlong(file), 1):
            where = f"{str(path)!r}, line {number}"
            if line.strip():
                yield _Entry(where, _parse_line(line, where))


def _cut_overlong(file: Any) -> Iterable[bytes]:
    """The lines of a file; of one that is too long no more than shows it is."""
    return iter(lambda: file.readline(_LONGEST_LINE_BYTES + 1), b"")


def _parse_line(line: bytes, where: str) -> dict[str, Any]:
    r"""Read one object.

    >>> _parse_line(b'{"id": "q"}\n', "line 1")
    {'id': 'q'}
    >>> _parse_line(b'["q"]', "line 1")
    Traceback (most recent call last):
    ...
    skerry.errors.InputError: line 1: a subscription is an object {"id": ..., "stream": ..., "predicate": ...}
    """
    if len(line) > _LONGEST_LINE_BYTES:
        raise InputError(f"{where}: has more than {_LONGEST_LINE_BYTES} bytes")
    try:
        text = line.decode("utf-8-sig")
        if _find_depth(text) > _DEEPEST:
            raise InputError(f"{where}: nested more than {_DEEPEST} deep")
        found = json.loads(text)
        if "\\u" in text:
            json.dumps(found, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        half = ascii(error.object[error.start])
        raise InputError(f"{where}: {half} is half a character, and has no meaning by itself") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{where}: not valid UTF-8, at byte {error.start + 1}") from None
    except json.JSONDecodeError as error:
        raise InputError(f"{where}, column {error.colno}: not JSON, {error.msg[:1].lower()}{error.msg[1:]}") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: not JSON that can be read, {error}") from None
    if not isinstance(found, dict):
        raise InputError(f'{where}: a subscription is an object {{"id": ..., "stream": ..., "predicate": ...}}')
    return found


def _find_depth(text: str) -> int:
    """How deep brackets are nested outside of texts; where there are few of them, it does not matter.

    >>> _find_depth("[" * 50 + '"[[["')
    50
    """
    if text.count("[") + text.count("{") <= _DEEPEST:
        return 1
    depth = deepest = 0
    for found in _BRACKET_OR_TEXT.finditer(text):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(found[0], 0)
        deepest = max(deepest, depth)
    return deepest


def _read_entry(entry: _Entry) -> Subscription:
    given = [entry.values.get(name) for name in _KNOWN]
    if [type(value) for value in given] in _USUAL:
        return Subscription(*given)  # type: ignore[arg-type]
    values = {name: _read_text(entry, name) for name in _KNOWN}
    for name in _NEEDED:
        if values[name] is None:
            found = ", ".join(entry.values) or "none"
            message = f"{name!r} is missing; a subscription has id, stream, predicate; found {found}"
            raise InputError(f"{entry.where}: {message}")
    return Subscription(*(values[name] for name in _KNOWN))  # type: ignore[arg-type]


def _read_text(entry: _Entry, name: str) -> str | None:
    """A value as a text. Numbers are ids too."""
    value = entry.values.get(name)
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, int | float):
        return json.dumps(value)
    raise InputError(f"{entry.where}: {name!r} must be a text, got {json.dumps(value, default=str)[:40]}")
