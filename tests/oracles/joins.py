"""Complete joins by nested loops."""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product


@dataclass(frozen=True)
class Tuple:
    """A tuple of a stream, live from its start until its end, both in; a key of None equals nothing."""

    stream: int
    key: Hashable
    start: int
    end: int
    row: int


def combinations(tuples: Iterable[Tuple], stream_count: int) -> list[tuple[int, ...]]:
    """The rows of every combination of one tuple a stream that share a key and a moment at which all are live."""
    streams = [[each for each in tuples if each.stream == stream] for stream in range(stream_count)]
    return sorted(tuple(each.row for each in found) for found in product(*streams) if _is_answer(found))


def _is_answer(found: Sequence[Tuple]) -> bool:
    same = all(each.key is not None and each.key == found[0].key for each in found)
    return same and max(each.start for each in found) <= min(each.end for each in found)


def arriving_combinations(tuples: Sequence[Tuple], last_rows: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """The same, a tuple at a time; of streams that count rows, only the last so many to have arrived are live."""
    for count, arrival in enumerate(tuples):
        before = [each for each in tuples[:count] if each.stream != arrival.stream]
        yield from combinations([*_last(before, tuples[:count], last_rows), arrival], len(last_rows))


def _last(tuples: Iterable[Tuple], arrived: Sequence[Tuple], last_rows: Sequence[int]) -> list[Tuple]:
    newest = [
        max((each.row for each in arrived if each.stream == stream), default=0) for stream in range(len(last_rows))
    ]
    return [
        each for each in tuples if not last_rows[each.stream] or newest[each.stream] - each.row < last_rows[each.stream]
    ]
