"""The techniques that SNJoin is measured against, by nested loops; their tables, as dictionaries of lists."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

_WORD = 2**64 - 1


class Arrival(NamedTuple):
    """A tuple of a stream or sensor, live from its start to its end."""

    stream: int
    key: int
    start: int
    end: int
    row: int


def complete(arrivals: Sequence[Arrival], stream_count: int) -> list[tuple[int, ...]]:
    """The rows of all combinations of one arrival a stream that share a key and a moment, sorted."""
    return sorted(tuple(member.row for member in found) for found in _extended([], arrivals, stream_count))


def _extended(members: list[Arrival], arrivals: Sequence[Arrival], stream_count: int) -> Iterator[list[Arrival]]:
    if len(members) == stream_count:
        yield members
        return
    for arrival in arrivals:
        if arrival.stream == len(members) and _agree([*members, arrival]):
            yield from _extended([*members, arrival], arrivals, stream_count)


def _agree(members: list[Arrival]) -> bool:
    one_key = len({member.key for member in members}) == 1
    return one_key and max(member.start for member in members) <= min(member.end for member in members)


def lists(arrivals: Sequence[Arrival]) -> list[list[int]]:
    """For each arrival, in order of time, the sorted rows of those before it that are of others, and live with it."""
    return [
        sorted(other.row for other in arrivals[:place] if other.stream != arrival.stream and _meet(other, arrival))
        for place, arrival in enumerate(arrivals)
    ]


def _meet(other: Arrival, arrival: Arrival) -> bool:
    return other.key == arrival.key and other.start <= arrival.start <= other.end


def matches(arrivals: Iterable[Arrival], table: int, key: int, start: int, end: int) -> list[int]:
    """The rows of a table's arrivals with a key that are live within [start, end], the newest first."""
    return [
        arrival.row
        for arrival in reversed(list(arrivals))
        if (arrival.stream, arrival.key) == (table, key) and arrival.start <= end and arrival.end >= start
    ]


def hash_of(key: int) -> int:
    """The hash of the tables, in whole numbers cut to 64 bits by hand."""
    bits = (key * 0x9E3779B97F4A7C15) & _WORD
    bits = ((bits ^ bits >> 32) * 0xD6E8FEB86659FD93) & _WORD
    return bits ^ bits >> 32


def is_missing(arrivals: Iterable[Arrival], stream_count: int, key: int, values: int) -> bool:
    """Whether some stream has no arrival whose key falls on the same of so many hash values."""
    present = {each.stream for each in arrivals if (hash_of(each.key) - hash_of(key)) % values == 0}
    return len(present) < stream_count
