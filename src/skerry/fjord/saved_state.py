"""State in files: now and then all of it, in between the pages that changed.

    state/000000000012.base     000000000031.changes    000000000057.changes

Each file is named for the step after which it was saved, and holds pages of all views, and a record of how far the run
had come. Changes name the file before them, so that one that is missing is found out. When changes have grown to a few
times the base, or a view is no more, all pages are put together into another base, and the files before it are removed.
So no more is written than a few times what changes, and no more is kept than a few times what there is.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from skerry.errors import CheckpointError
from skerry.model.sealed_folder import SealedFolder
from skerry.model.time import Micros
from skerry.operators.operator import PageChanges
from skerry.pipeline.outcome import Outcome
from skerry.pipeline.saved_pages import read_pages, write_pages
from skerry.replay.replay import Position

__all__ = ["Progress", "SavedState", "ViewClock"]

_RECORD = "#"
"""The page with the record. Those of views begin with their number."""
_BASE, _CHANGES = ".base", ".changes"
_MOST_GROWTH = 4
"""How many times the base changes may be, before there is another base."""
_LITTLE = 1 << 22
"""Bytes of changes that are not worth another base, however small it is."""


@dataclass(frozen=True)
class ViewClock:
    """How far the streams of a view have come, and why it had to stop, if it had."""

    newest: Mapping[str, Micros]
    failure: str | None = None
    heard: Mapping[str, Micros] = field(default_factory=dict)


@dataclass(frozen=True)
class Progress:
    """How far a run has come: what is saved beside the state of its views."""

    position: Position | None = None
    """None before the first step."""
    total: Outcome = field(default_factory=Outcome)
    newest: Mapping[str, Micros] = field(default_factory=dict)
    tables: Mapping[str, str] = field(default_factory=dict)
    """The files of the tables that were seen last."""
    clocks: Mapping[int, ViewClock] = field(default_factory=dict)
    """Those of the views that keep state, by their numbers."""

    @property
    def step(self) -> int:
        """How many steps are in it."""
        return int(self.position["step"]) if self.position else 0

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> "Progress":
        """What ``dataclasses.asdict`` spelled out, through JSON and back."""
        clocks = {int(number): ViewClock(**clock) for number, clock in record["clocks"].items()}
        return cls(**{**record, "total": Outcome.from_json(record["total"]), "clocks": clocks})


class SavedState:
    """The state of one run. ``progress`` is None until something has been saved."""

    def __init__(self, files: SealedFolder) -> None:
        self._files = files
        self._chain = self._list_files()
        self.progress: Progress | None = None
        self._base_bytes, self._bytes = 0, 0

    def read(self) -> dict[int, dict[str, bytes]]:
        """The pages of all views, by their numbers, as they were saved last; and ``progress`` with them."""
        pages: dict[str, bytes] = {}
        before: int | None = None
        for name in self._chain:
            found = read_pages(self._files, name)
            record = json.loads(found.pop(_RECORD))
            if record["before"] != before:
                missing = self._files.file(_name(record["before"], _CHANGES))
                raise CheckpointError(str(missing), f"is missing, while {name!r} is there")
            _apply(PageChanges(found, record["drop"]), pages)
            before, self.progress = _step(name), Progress.from_json(record["progress"])
        sizes = [self._files.file(name).stat().st_size for name in self._chain]
        self._base_bytes, self._bytes = sum(sizes[:1]), sum(sizes[1:])
        return _by_view(pages, self.progress)

    def write(self, progress: Progress, changes: Mapping[int, PageChanges]) -> None:
        """Save what has changed, all or nothing."""
        put = {f"{number}/{page}": blob for number, each in changes.items() for page, blob in each.put.items()}
        drop = [f"{number}/{page}" for number, each in changes.items() for page in each.drop]
        gone = self.progress.clocks.keys() - progress.clocks.keys() if self.progress else set()
        if not self._chain or gone or self._bytes > _LITTLE + _MOST_GROWTH * self._base_bytes:
            self._write_base(progress, PageChanges(put, drop))
        else:
            name = _name(progress.step, _CHANGES)
            self._bytes += self._write(name, progress, _step(self._chain[-1]), put, drop)
            self._chain.append(name)
        self.progress = progress

    def _write_base(self, progress: Progress, changes: PageChanges) -> None:
        found = {number: each for number, each in self.read().items() if number in progress.clocks}
        pages = {f"{number}/{page}": blob for number, each in found.items() for page, blob in each.items()}
        _apply(changes, pages)
        name = _name(progress.step, _BASE)
        self._base_bytes, self._bytes = self._write(name, progress, None, pages, ()), 0
        self._chain = [name]
        for path in self._files.path.iterdir():  # also what a process that was killed had begun to write
            if path.name != name:
                path.unlink()

    def _write(
        self, name: str, progress: Progress, before: int | None, pages: Mapping[str, bytes], drop: Sequence[str]
    ) -> int:
        record = {"before": before, "drop": drop, "progress": asdict(progress)}
        return write_pages(self._files, name, {_RECORD: json.dumps(record).encode(), **pages})

    def _list_files(self) -> list[str]:
        """The last base and what changed after it."""
        names = [path.name for path in self._files.path.glob("[0-9]*") if path.suffix in (_BASE, _CHANGES)]
        bases = [name for name in names if name.endswith(_BASE)]
        last = max(map(_step, bases), default=-1)
        if names and last < 0:
            raise CheckpointError(str(self._files.path), "has changes, and no base that they change")
        changes = sorted((name for name in names if name.endswith(_CHANGES) and _step(name) > last), key=_step)
        return [_name(last, _BASE), *changes] if bases else []


def _apply(changes: PageChanges, pages: dict[str, bytes]) -> None:
    pages.update(changes.put)
    for page in changes.drop:
        del pages[page]


def _by_view(pages: Mapping[str, bytes], progress: Progress | None) -> dict[int, dict[str, bytes]]:
    """Pages by the numbers of their views. Of a view that had to stop nothing is wanted any more."""
    stopped = {number for number, clock in progress.clocks.items() if clock.failure} if progress else set()
    found: dict[int, dict[str, bytes]] = {}
    for page, blob in pages.items():
        number, _, name = page.partition("/")
        if int(number) not in stopped:
            found.setdefault(int(number), {})[name] = blob
    return found


def _name(step: int, kind: str) -> str:
    return f"{step:012}{kind}"


def _step(name: str) -> int:
    return int(name.partition(".")[0])
