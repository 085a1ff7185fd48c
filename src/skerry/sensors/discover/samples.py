"""What was heard: messages, and the readings and states in them."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import cbor2

from skerry.model.time import Micros
from skerry.sensors.messages import SensorState

__all__ = ["Reading", "Sample", "decode", "read_state", "split_readings"]

_ABOUT_SENSOR = ("control", "state")
"""The last levels of topics that carry no readings."""
_MOST_PAYLOAD_BYTES = 1 << 20
_LIST = "readings"


@dataclass(frozen=True)
class Sample:
    """A message as it was heard: topic, bytes, when it arrived, and whether the broker had kept it from before."""

    topic: str
    payload: bytes
    arrived_us: Micros
    retained: bool = False

    @property
    def levels(self) -> tuple[str, ...]:
        """The parts of its topic."""
        return tuple(self.topic.split("/"))

    @property
    def is_state(self) -> bool:
        """Whether it is what a sensor says of itself."""
        return len(self.levels) > 1 and self.levels[-1] == "state"

    @property
    def carries_readings(self) -> bool:
        """Whether its topic may carry readings."""
        return self.levels[-1] not in _ABOUT_SENSOR and not self.topic.startswith("$")


@dataclass(frozen=True)
class Reading:
    """One reading: whose, its values, and when its message arrived."""

    levels: tuple[str, ...]
    values: Mapping[str, Any]
    arrived_us: Micros


def decode(payload: bytes) -> tuple[str, Any] | None:
    r"""The encoding of a payload and what it says, or None if it is neither JSON nor CBOR.

    >>> decode(b'{"ts": 5}'), decode(b"\xa1\x62ts\x05"), decode(b"20.5 degrees")
    (('JSON', {'ts': 5}), ('CBOR', {'ts': 5}), None)
    """
    if not payload or len(payload) > _MOST_PAYLOAD_BYTES:
        return None
    try:
        return "JSON", json.loads(payload)
    except (ValueError, RecursionError):
        pass
    try:
        stream = BytesIO(payload)
        found = cbor2.CBORDecoder(stream).decode()
    except (cbor2.CBORDecodeError, ValueError, RecursionError, OverflowError, MemoryError):
        return None
    # Almost any byte begins some CBOR: only what is whole, and holds readings, is meant as such.
    return ("CBOR", found) if stream.tell() == len(payload) and isinstance(found, dict | list) else None


def split_readings(sample: Sample, said: Any) -> Iterator[Reading]:
    """The readings of a message: one, a list, or a list beside other things, which are left alone."""
    found: Sequence[Any] = said if isinstance(said, list) else [said]
    if isinstance(said, dict) and isinstance(said.get(_LIST), list):
        found = said[_LIST]
    for values in found:
        if isinstance(values, dict) and values and all(isinstance(name, str) for name in values):
            yield Reading(sample.levels, values, sample.arrived_us)


def read_state(said: Any) -> SensorState | None:
    """What a sensor says of itself, or None if it is not said as Skerry's sensors say it."""
    try:
        return SensorState.from_json(said) if isinstance(said, dict) else None
    except (KeyError, TypeError, ValueError):
        return None
