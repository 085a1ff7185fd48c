"""What was heard: messages, and the readings and states in them."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from skerry.model.time import Micros
from skerry.sensors.cbor import read_cbor
from skerry.sensors.messages import SensorState

__all__ = ["VALUE", "Reading", "Sample", "decode", "read_state", "split_readings"]

_CONTROL, _STATE = "control", "state"
_STATE_KEYS = frozenset({"control", "kind", "listens_ms", "programs"})
"""What Skerry's sensors say of themselves; other devices have topics that end in ``state``, too."""
_LONGEST_VALUE = 256
_MOST_PAYLOAD_BYTES = 1 << 20
_LIST = "readings"
VALUE = "value"
"""The key of a value that has none."""


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
        return len(self.levels) > 1 and self.levels[-1] == _STATE

    @property
    def carries_readings(self) -> bool:
        """Whether its topic may carry readings."""
        return self.levels[-1] != _CONTROL and not self.topic.startswith("$")


@dataclass(frozen=True)
class Reading:
    """One reading: whose, its values, when its message arrived, and whether the broker had kept that from before.

    ``is_bare`` says that it came as one value without a key; here it has ``VALUE`` for that.
    """

    levels: tuple[str, ...]
    values: Mapping[str, Any]
    arrived_us: Micros
    retained: bool = False
    is_bare: bool = False


def decode(payload: bytes) -> tuple[str, Any] | None:
    r"""The encoding of a payload and what it says, or None if it is neither JSON nor CBOR nor a short text.

    >>> decode(b'{"ts": 5}'), decode(b"\xa1\x62ts\x05"), decode(b"20.5 degrees"), decode(b"{?")
    (('JSON', {'ts': 5}), ('CBOR', {'ts': 5}), ('JSON', '20.5 degrees'), None)
    """
    if not payload or len(payload) > _MOST_PAYLOAD_BYTES:
        return None
    try:
        return "JSON", json.loads(payload)
    except (ValueError, RecursionError):
        pass
    if (said := _read_text(payload)) is not None:
        return "JSON", said
    try:
        found = read_cbor(payload)
    except ValueError:
        return None
    # Almost any byte begins some CBOR: only what can be a reading is meant as such.
    return ("CBOR", found) if isinstance(found, dict | list | float) else None


def _read_text(payload: bytes) -> str | None:
    """A short text that can be printed, unless it begins as JSON does that is broken."""
    try:
        said = payload.decode().strip()
    except UnicodeDecodeError:
        return None
    return said if said and said.isprintable() and len(said) <= _LONGEST_VALUE and said[0] not in '{["' else None


def split_readings(sample: Sample, said: Any) -> Iterator[Reading]:
    """The readings of a message: one, a list, or a list beside other things, which are left alone."""
    found: Sequence[Any] = said if isinstance(said, list) else [said]
    if isinstance(said, dict) and isinstance(said.get(_LIST), list):
        found = said[_LIST]
    for values in found:
        if isinstance(values, dict) and values and all(isinstance(name, str) for name in values):
            yield Reading(sample.levels, values, sample.arrived_us, sample.retained)
        elif isinstance(values, str | int | float):
            yield Reading(sample.levels, {VALUE: values}, sample.arrived_us, sample.retained, is_bare=True)


def read_state(said: Any) -> SensorState | None:
    """What a sensor says of itself, or None if it is not said as Skerry's sensors say it."""
    try:
        return SensorState.from_json(said) if isinstance(said, dict) and not _STATE_KEYS.isdisjoint(said) else None
    except ValueError:
        return None
