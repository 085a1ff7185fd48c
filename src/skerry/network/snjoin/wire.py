"""The four messages of SNJoin*, as plain bodies, and what each takes on the air.

Sizes are fixed by field, so that a count of heads and members is enough to know the bytes of a message.
"""

from typing import NamedTuple, TypeAlias

from skerry.network.message import HEADER_BYTES, Kind, Message

__all__ = [
    "PROBE_TAG",
    "TUPLE_TAG",
    "WEIGHTS_TAG",
    "Found",
    "Member",
    "Note",
    "Probe",
    "SensorTuple",
    "count_note_bytes",
    "count_probe_bytes",
    "count_tuple_bytes",
    "pack_note",
    "pack_probe",
    "pack_tuple",
]

TUPLE_TAG, PROBE_TAG, WEIGHTS_TAG = "tuple", "probe", "weights"
_TAG_BYTES, _ID_BYTES, _COUNT_BYTES, _TIME_BYTES, _VALUE_BYTES, _WEIGHT_BYTES = 1, 2, 4, 8, 8, 8

Member: TypeAlias = tuple[int, int]
"""(sensor, time): one tuple of an answer."""
Found: TypeAlias = tuple[int, int]
"""(head, how many tuples it has found): the paper's (C, |r|)."""


class SensorTuple(NamedTuple):
    """A reading as the join sees it. Tuples are ordered by (time, sensor)."""

    value: int
    time: int
    sensor: int


class Probe(NamedTuple):
    """A tuple on its way through cluster heads, with what was found so far.

    ``sequence`` is how many heads have answered: ``found[0]`` is the one whose member sent the tuple, and
    ``found[sequence + 1]`` is next.
    """

    sequence: int
    arrival: SensorTuple
    found: tuple[Found, ...]
    members: tuple[Member, ...]


class Note(NamedTuple):
    """Relevance feedback on a tuple with this value: (head, weight) of each head that was probed."""

    value: int
    weights: tuple[tuple[int, float], ...]


def pack_tuple(value: int, time: int) -> Message:
    """A reading, from a member to its head; the sender is the sensor."""
    return Message(Kind.STORAGE, (TUPLE_TAG, value, time), count_tuple_bytes())


def pack_probe(probe: Probe) -> Message:
    """A probe on its way to the next head, or the result on its way to the collector."""
    kind = Kind.RESULT if probe.sequence + 1 == len(probe.found) else Kind.JOIN
    body = (PROBE_TAG, probe.sequence, tuple(probe.arrival), probe.found, probe.members)
    return Message(kind, body, count_probe_bytes(len(probe.found), len(probe.members)))


def pack_note(note: Note) -> Message:
    """Relevance feedback, from the collector to the head that began."""
    return Message(Kind.CONTROL, (WEIGHTS_TAG, *note), count_note_bytes(len(note.weights)))


def count_tuple_bytes() -> int:
    """What a reading takes."""
    return HEADER_BYTES + _TAG_BYTES + _VALUE_BYTES + _TIME_BYTES


def count_probe_bytes(heads: int, members: int) -> int:
    """What a probe takes that names so many heads and carries so many members.

    >>> count_probe_bytes(heads=3, members=10)
    150
    """
    fixed = HEADER_BYTES + _TAG_BYTES + _ID_BYTES + _VALUE_BYTES + _TIME_BYTES + _ID_BYTES
    return fixed + heads * (_ID_BYTES + _COUNT_BYTES) + members * (_ID_BYTES + _TIME_BYTES)


def count_note_bytes(heads: int) -> int:
    """What a feedback note on so many heads takes."""
    return HEADER_BYTES + _TAG_BYTES + _VALUE_BYTES + heads * (_ID_BYTES + _WEIGHT_BYTES)
