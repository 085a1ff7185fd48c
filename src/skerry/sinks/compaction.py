"""Small files put together into larger ones, beside the run that goes on.

A folder is never seen half done. The larger file is written elsewhere; a second folder is made of it and of links to
all files that stay; then the two folders change places in one step (``model.exchange``). Whoever lists the folder
before sees the small files, whoever lists it after sees the large one. The folder that was replaced is removed a while
later, so that a listing that had begun comes to its end. Who has listed it before and opens a file after finds it gone,
and lists again. After a crash, one of the two folders is in place, whole, and the other is removed.

Which files: as soon as ``_MANY`` that follow each other are of one level of size, or smaller, and ``_MANY`` of them of
that level. So each row is written once per level, and there are never many files of one level:

    level 0      1       2      3        (left alone)
    < 64 KiB  < 512 KiB  < 4 MiB  < 32 MiB   larger
"""

import logging
import os
import shutil
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from threading import Lock

from skerry.model.atomic_write import sync
from skerry.model.exchange import exchange
from skerry.sinks.parts import Part, find_parts, name_part

__all__ = ["MANY", "Compaction"]

MANY = 16
"""So many files of a kind become one."""
_LISTED_WITHIN_SECONDS = 1.0
"""A listing that has begun ends within this time; those of ours look whether it did (``sinks.parts``)."""
_LEAST_BYTES, _FACTOR, _LEVELS = 1 << 16, 8, 4
_log = logging.getLogger(__name__)


class Compaction:
    """Puts the parts of folders together. ``lock`` is held while a folder is exchanged: writers hold it too.

    ``workshop`` is a folder of the same file system, emptied first, that nobody looks into.
    """

    def __init__(self, workshop: Path, merge: Callable[[Sequence[Path], Path], None], *, synced: bool) -> None:
        self._workshop, self._merge, self._synced = workshop, merge, synced
        self.lock = Lock()
        self._pool = ThreadPoolExecutor(1, "compaction")
        self._pending: dict[Path, Future[None]] = {}
        self._fresh: dict[Path, int] = {}
        self._before: dict[Path, int] = {}
        self._is_possible = True
        self._made = 0
        self._replaced: deque[tuple[float, Path]] = deque()
        shutil.rmtree(workshop, ignore_errors=True)

    def note(self, folder: Path, files: int, before: int) -> None:
        """Learn of new files in a folder; batches before ``before`` are recorded, and can be put together.

        What a run that went before has left counts too: or a run that is restarted often would put nothing together.
        """
        self._raise_failure(folder)
        self._before[folder] = before
        known = self._fresh.get(folder)
        self._fresh[folder] = len(find_parts(folder)) if known is None else known + files
        if self._fresh[folder] >= MANY and folder not in self._pending:
            self._fresh[folder] = 0
            self._pending[folder] = self._pool.submit(self.compact, folder, before)

    def finish(self) -> None:
        """Return when all is put together that can be."""
        rest = [folder for folder, files in self._fresh.items() if files >= MANY]
        under_way = [
            *self._pending.values(),
            *(self._pool.submit(self.compact, folder, self._before[folder]) for folder in rest),
        ]
        self._pool.shutdown()
        shutil.rmtree(self._workshop, ignore_errors=True)
        for each in under_way:
            each.result()

    def compact(self, folder: Path, before: int) -> None:
        """Put together what there is of batches before one."""
        try:
            while self._is_possible and (chosen := choose([part for part in find_parts(folder) if part.last < before])):
                self._replace(folder, chosen)
        except FileNotFoundError:  # removed meanwhile, by who gives up what is old
            return
        except OSError as error:
            self._is_possible = False
            _log.warning("files in %s are not put together: %s", folder, error.strerror)

    def _replace(self, folder: Path, chosen: Sequence[Part]) -> None:
        self._remove_replaced()
        beside = self._workshop / str(self._made)
        self._made += 1
        beside.mkdir(parents=True)
        try:
            self._merge_into(beside, folder, chosen)
        finally:
            self._replaced.append((time.monotonic(), beside))

    def _merge_into(self, beside: Path, folder: Path, chosen: Sequence[Part]) -> None:
        """Make the folder that is to be in place, and exchange the two."""
        first = chosen[0]
        merged = beside / f"{name_part(first.first, chosen[-1].last)}{first.path.suffix}"
        self._merge([part.path for part in chosen], merged)
        if self._synced:
            sync([merged])
        left_out = {part.path.name for part in chosen}
        with self.lock:
            if not all(part.path.exists() for part in chosen):
                return  # some of it has been removed, and must not come back
            for entry in folder.iterdir():
                if entry.name not in left_out:
                    os.link(entry, beside / entry.name)
            if self._synced:
                sync([beside])
            exchange(beside, folder)
        if self._synced:
            sync([folder])

    def _remove_replaced(self) -> None:
        while self._replaced and self._replaced[0][0] < time.monotonic() - _LISTED_WITHIN_SECONDS:
            shutil.rmtree(self._replaced.popleft()[1], ignore_errors=True)

    def _raise_failure(self, folder: Path) -> None:
        """What went wrong in the background is raised to the run."""
        pending = self._pending.get(folder)
        if pending and pending.done():
            del self._pending[folder]
            pending.result()


def choose(parts: Sequence[Part]) -> Sequence[Part]:
    """The parts to be put together next, whole batches; none if there are not many yet.

    ``parts`` are in order.
    """
    levels = [_find_level(part.path.stat().st_size) for part in parts]
    for level in range(_LEVELS):
        for start, stop in _find_runs(levels, level):
            start, stop = _widen(parts, start, stop)
            if levels[start:stop].count(level) >= MANY and parts[start].first < parts[stop - 1].first:
                return parts[start:stop]
    return ()


def _find_level(size: int) -> int:
    """How large a file is, as the power of a factor.

    >>> _find_level(100), _find_level(1 << 16), _find_level(1 << 30)
    (0, 1, 4)
    """
    level = 0
    while level < _LEVELS and size >= _LEAST_BYTES * _FACTOR**level:
        level += 1
    return level


def _find_runs(levels: Sequence[int], most: int) -> list[tuple[int, int]]:
    """Where levels that follow each other are no higher than one.

    >>> _find_runs([0, 0, 2, 1], 1)
    [(0, 2), (3, 4)]
    """
    runs, start = [], 0
    for index, level in enumerate([*levels, most + 1]):
        if level > most:
            if index > start:
                runs.append((start, index))
            start = index + 1
    return runs


def _widen(parts: Sequence[Part], start: int, stop: int) -> tuple[int, int]:
    """The same with all parts of its first and last batch."""
    while start and parts[start - 1].last == parts[start].first:
        start -= 1
    while stop < len(parts) and parts[stop].first == parts[stop - 1].last:
        stop += 1
    return start, stop
