"""Looks at a folder again and again, and brings what is new to the spool."""

import glob
import logging
import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

import numpy as np
import pyarrow as pa

from skerry.catalog import Source
from skerry.errors import RunError, SkerryError
from skerry.model.batch import empty
from skerry.model.time import Micros
from skerry.sensors.heard import Heard
from skerry.sources.file.options import FileOptions
from skerry.sources.folder.watched_file import Reach, find_number, is_known, read_on
from skerry.sources.source import ReceivingAlone
from skerry.sources.spool.doubles import Identity
from skerry.sources.spool.frame import RECEIVED
from skerry.sources.spool.heard import SpoolCounts
from skerry.sources.spool.segments import Segments
from skerry.sources.spool.writer import SpoolWriter, tell_time

__all__ = ["FolderReceiving"]

_log = logging.getLogger(__name__)
_LOOK_SECONDS = 0.2
_MOST_LISTINGS = 10
_SENSOR = "sensor"


class FolderReceiving(ReceivingAlone):
    """A watched folder, as long as the context is open.

    How far each file was read is noted in the frame that has its lines: both are on disk, or neither.
    """

    def __init__(self, definition: Source, options: FileOptions, base: Path, spool: Path, settle_us: Micros) -> None:
        self._definition, self._options, self._base, self._settle_us = definition, options, base, settle_us
        self._writer, self._counts = SpoolWriter(spool), SpoolCounts(spool)
        self._identity = Identity(sensor=_SENSOR if _SENSOR in definition.schema.names else None)
        self._reaches = {path: Reach.from_json(note) for path, note in self._writer.notes.items()}
        self._recall(spool)
        self._sizes: dict[str, tuple[int, Micros]] = {}
        self._unreadable: set[str] = set()
        self._stopping = threading.Event()
        self._failure: SkerryError | None = None
        self._thread = threading.Thread(target=self._work, name="folder", daemon=True)

    def __enter__(self) -> "FolderReceiving":
        """Begin to look."""
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop looking."""
        self._stopping.set()
        self._thread.join()
        self._writer.close()

    def check(self) -> None:
        """Raise what has ended it."""
        if self._failure:
            raise self._failure

    def take_heard(self) -> Mapping[str, Heard]:
        """Who was heard since this was asked last."""
        return self._counts.take()

    def settle_heard(self) -> None:
        """What was taken last is kept."""
        self._counts.settle()

    def _work(self) -> None:
        try:
            while not self._stopping.is_set():
                now = tell_time()
                if not self._look(now):
                    self._writer.note_time(now)
                    self._stopping.wait(_LOOK_SECONDS)
        except SkerryError as error:
            self._failure = error
        except Exception as error:  # the thread ends: the run must hear of it
            self._failure = RunError(f"cannot watch the folder: {type(error).__name__}: {error}")

    def _look(self, now: Micros) -> bool:
        """Take in what is new in all files, in the order of their names; say whether there was something."""
        files = self._list_files()
        moved = self._find_moved(files)
        if moved:  # in one frame, for one may have the name that another had
            self._keep(empty(RECEIVED), now, moved)
        return sum([self._read(path, number, now) for path, number in files.items()]) > 0

    def _list_files(self) -> dict[str, int]:
        """The files by name, each with its number.

        Where a name has another file than before, the one that had it may have got its new name after the names were
        listed. So they are listed again, until nothing has changed meanwhile.
        """
        files = self._list_once()
        for _ in range(_MOST_LISTINGS):
            if all(
                path not in self._reaches or self._reaches[path].file_id == number for path, number in files.items()
            ):
                break
            before, files = files, self._list_once()
            if files == before:
                break
        return files

    def _list_once(self) -> dict[str, int]:
        found = glob.glob(self._options.path, root_dir=self._base, recursive=True)
        paths = [str(self._base / name) for name in sorted(found)]
        return {path: number for path in paths if (number := self._find_number(path))}

    def _find_number(self, path: str) -> int | None:
        with self._pass_by(path):
            return find_number(path)
        return None

    def _find_moved(self, files: Mapping[str, int]) -> dict[str, Reach]:
        """The files that have been read under another name, and how far."""
        known = self._reaches
        fresh = [path for path, number in files.items() if path not in known or known[path].file_id != number]
        if not fresh:
            return {}
        gone = {reach.file_id: reach for path, reach in known.items() if files.get(path) != reach.file_id}
        moved = {path: gone[files[path]] for path in fresh if files[path] in gone}
        return {path: reach for path, reach in moved.items() if self._is_moved(path, known.get(path), reach)}

    def _is_moved(self, path: str, own: Reach | None, other: Reach) -> bool:
        with self._pass_by(path):
            return not (own and is_known(path, own)) and is_known(path, other)
        return False

    def _read(self, path: str, number: int, now: Micros) -> bool:
        reach = self._reaches.get(path, Reach())
        found = None
        with self._pass_by(path):
            is_settled = self._is_settled(path, now)
            found = read_on(path, number, reach, self._definition, self._options, now, is_settled=is_settled)
            self._unreadable.discard(path)
        if found is None:
            return False
        received = found[0]
        self._keep(received, now, {path: found[1]})
        is_double = np.zeros(received.num_rows, np.bool_)
        self._counts.note(received, self._identity.compute(received), is_double, self._writer.count)
        return True

    @contextmanager
    def _pass_by(self, path: str) -> Iterator[None]:
        """Leave a file for the next look that is gone, or cannot be read now; the log says so once."""
        try:
            yield
        except FileNotFoundError:
            pass
        except OSError as error:
            if path not in self._unreadable:
                _log.warning("source %s: cannot read %s, trying again: %s", self._definition.name, path, error.strerror)
            self._unreadable.add(path)

    def _keep(self, received: pa.RecordBatch, now: Micros, reaches: Mapping[str, Reach]) -> None:
        self._writer.append(received, now, {path: reach.to_json() for path, reach in reaches.items()})
        self._reaches |= reaches

    def _recall(self, spool: Path) -> None:
        """Count what a crash has left uncounted."""
        segments = Segments(spool)
        count = segments.count()
        first = count if self._counts.first is None else max(self._counts.first, segments.first)
        for frame, received in enumerate(segments.read(first, count), first):
            self._counts.recall(received, self._identity.compute(received), frame)
        self._counts.begin(count)

    def _is_settled(self, path: str, now: Micros) -> bool:
        """Whether a file has been as long as it is for a while."""
        try:
            size = os.stat(path).st_size
        except FileNotFoundError:
            return False
        known, since = self._sizes.get(path, (-1, now))
        self._sizes[path] = (size, since if known == size else now)
        return known == size and now - since >= self._settle_us
