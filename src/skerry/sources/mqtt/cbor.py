"""Messages in CBOR, as JSON: what JSON has no word for becomes text."""

import json
from collections.abc import Mapping
from datetime import date, datetime
from typing import Any

from skerry.sensors.cbor import read_cbor

__all__ = ["to_json"]


def to_json(payload: bytes, longest: int = 1 << 20) -> tuple[bytes, str | None]:
    r"""A message as JSON, or as it is with the reason why it cannot be read. One that is too long is left alone.

    >>> to_json(b"\xa2\x65speed\xf9\x53\xa0\x63tag\x42ab")
    (b'{"speed": 61.0, "tag": "6162"}', None)
    >>> to_json(b"\xa1\x05")
    (b'\xa1\x05', 'not valid CBOR: premature end of stream (expected to read at least 1 bytes, got 0 instead)')
    """
    if len(payload) > longest:
        return payload, None
    try:
        return json.dumps(read_cbor(payload, longest), default=_convert).encode(), None
    except (ValueError, TypeError, RecursionError) as error:
        return payload, str(error)


def _convert(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, set | frozenset):
        return list(value)
    return value.isoformat() if isinstance(value, datetime | date) else str(value)
