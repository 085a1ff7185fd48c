"""Messages in CBOR, as JSON: what JSON has no word for becomes text."""

import json
from datetime import date, datetime
from typing import Any

import cbor2

__all__ = ["to_json"]

NO_CBOR = "not valid CBOR"
_MOST_DEPTH = 32


def to_json(payload: bytes) -> tuple[bytes, str | None]:
    """A message as JSON, or as it is with the reason why it cannot be read.

    >>> to_json(cbor2.dumps({"speed": 61.5, "tag": b"ab"}))
    (b'{"speed": 61.5, "tag": "6162"}', None)
    >>> to_json(b"no")
    (b'no', 'not valid CBOR')
    """
    try:
        found = cbor2.loads(payload, max_depth=_MOST_DEPTH)
        return json.dumps(found, default=_to_text).encode(), None
    except (cbor2.CBORDecodeError, ValueError, TypeError, RecursionError, OverflowError, MemoryError):
        return payload, NO_CBOR


def _to_text(value: Any) -> str:
    if isinstance(value, bytes):
        return value.hex()
    return value.isoformat() if isinstance(value, datetime | date) else str(value)
