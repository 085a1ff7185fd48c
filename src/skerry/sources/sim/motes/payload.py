"""Messages of motes as bytes: JSON or CBOR, whole or broken."""

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import cbor2

__all__ = ["ENCODERS", "TIME_WRITERS", "encode_state", "garble"]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_JSON = json.JSONEncoder(separators=(",", ":"), allow_nan=False, ensure_ascii=False)


def _to_json(message: Mapping[str, Any]) -> bytes:
    return _JSON.encode(message).encode()


ENCODERS: Mapping[str, Callable[[Mapping[str, Any]], bytes]] = {"json": _to_json, "cbor": cbor2.dumps}

encode_state = _to_json
"""State is JSON always, as control is."""


def _to_iso(time_us: int) -> str:
    """Write a time as ISO 8601 has it, UTC.

    >>> _to_iso(1_700_000_000_500_000)
    '2023-11-14T22:13:20.500000Z'
    """
    return (_EPOCH + timedelta(microseconds=time_us)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


TIME_WRITERS: Mapping[str, Callable[[int], str | int | float]] = {
    "iso": _to_iso,
    "s": lambda time_us: time_us / 1e6,
    "ms": lambda time_us: time_us / 1e3,
    "us": lambda time_us: time_us,
}
"""How the event time is written."""


def garble(message: dict[str, Any], encoding: str, choice: int) -> bytes:
    """Break a message in one of three ways, so that no reader can take a reading from it.

    The end is missing; or there is a byte at the front that neither JSON nor CBOR can begin with; or the times are
    texts that are no times.

    >>> garble({"readings": [{"ts": 5}], "seq": 0}, "json", 2)
    b'{"readings":[{"ts":"yesterday"}],"seq":0}'
    """
    way, amount = choice % 3, choice // 3
    if way == 2:
        readings = [{**reading, "ts": "yesterday"} for reading in message["readings"]]
        return ENCODERS[encoding]({**message, "readings": readings})
    whole = ENCODERS[encoding](message)
    # At least the first byte stays: a payload without any would be another fault.
    return b"\xff" + whole if way else whole[: 1 + amount % (len(whole) - 1)]
