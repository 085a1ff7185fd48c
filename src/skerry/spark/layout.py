"""How state is spread over buckets, and under which number Spark keeps each of them.

Spark spreads the keys of a stateful stage over its tasks by their hash. Keys that are numbered from 0 often meet in one
task while others have none: of four buckets of the first view, two tasks would have two each. So a bucket has an
*address*: the next number whose hash leads to a task of its own.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from skerry.model.sealed_folder import SealedFolder
from skerry.pipeline.saved_pages import read_pages, write_pages

__all__ = ["Layout", "task_of"]

_SEED = 42
_WORD = 0xFFFFFFFF
_GENERATION = 1 << 20
"""Each generation's addresses begin at a multiple of this; of as many numbers each task gets a few thousand."""


@dataclass(frozen=True)
class Layout:
    """So many buckets, each in a task of its own. Another number is another generation, with other addresses."""

    bucket_count: int
    generation: int = 0
    first_batch: int = 0
    """The first batch that is spread so."""
    folder: SealedFolder | None = None
    """Where the state is that it began with, if it was spread otherwise before."""
    retired: tuple[tuple[int, int], ...] = ()
    """Groups and addresses of earlier generations, under which Spark still has state when it begins."""
    group_limit: int | None = None
    """Groups from this number on have come since, and began with nothing; None where no view comes."""

    def address(self, group: int, bucket: int) -> int:
        """The number under which Spark knows a bucket.

        >>> layout = Layout(4)
        >>> [task_of((0, layout.address(0, bucket)), 4) for bucket in range(4)]
        [0, 1, 2, 3]
        """
        return _addresses(group, self.bucket_count, self.generation)[bucket]

    def bucket(self, group: int, address: int) -> int | None:
        """The bucket of an address; None if it is one of an earlier generation."""
        return _buckets(group, self.bucket_count, self.generation).get(address)

    def read_first_pages(self, group: int, bucket: int) -> dict[str, bytes]:
        """The state pages that a bucket began with, if it was spread otherwise before."""
        has_come_since = self.group_limit is not None and group >= self.group_limit
        return read_pages(self.folder, _name_file(group, bucket)) if self.folder and not has_come_since else {}

    def write_first_pages(self, group: int, bucket: int, pages: Mapping[str, bytes]) -> None:
        """Write them down, also where there are none: so a file that is missing is found out."""
        assert self.folder is not None
        write_pages(self.folder, _name_file(group, bucket), pages)


def _name_file(group: int, bucket: int) -> str:
    return f"{group}-{bucket}.arrow"


def task_of(key: Iterable[int], task_count: int) -> int:
    """The task that Spark gives a key of 32-bit integers to: by their hash, which is Murmur3."""
    found = _SEED
    for number in key:
        found = _mix_end(_mix(found, _scramble(number & _WORD)))
    return (found - (1 << 32) if found >> 31 else found) % task_count


@cache
def _addresses(group: int, bucket_count: int, generation: int) -> tuple[int, ...]:
    found = dict(_find_addresses(group, bucket_count, generation * _GENERATION))
    return tuple(found[bucket] for bucket in range(bucket_count))


@cache
def _buckets(group: int, bucket_count: int, generation: int) -> dict[int, int]:
    addresses = _addresses(group, bucket_count, generation)
    return {address: bucket for bucket, address in enumerate(addresses)}


def _find_addresses(group: int, bucket_count: int, first: int) -> Iterator[tuple[int, int]]:
    """The first number that leads to each task."""
    missing, address = set(range(bucket_count)), first
    while missing:
        task = task_of((group, address), bucket_count)
        if task in missing:
            missing.remove(task)
            yield task, address
        address += 1


def _scramble(number: int) -> int:
    return _rotate(number * 0xCC9E2D51 & _WORD, 15) * 0x1B873593 & _WORD


def _mix(found: int, scrambled: int) -> int:
    return _rotate(found ^ scrambled, 13) * 5 + 0xE6546B64 & _WORD


def _mix_end(found: int) -> int:
    """Four bytes are over."""
    found ^= 4
    found = (found ^ found >> 16) * 0x85EBCA6B & _WORD
    found = (found ^ found >> 13) * 0xC2B2AE35 & _WORD
    return found ^ found >> 16


def _rotate(word: int, bits: int) -> int:
    return (word << bits | word >> 32 - bits) & _WORD
