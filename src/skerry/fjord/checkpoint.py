"""What a run in this process keeps, so that another can go on with it after a crash.

    run.json            which run it is, and what was asked for (``pipeline.checkpoint_folder``)
    lock                held by the process that uses the folder
    steps/              what each step since then is to read (``fjord.step_log``)
    state/              the state of views, and how far the run had come (``fjord.saved_state``)
    tables/, registry/  the versions of tables and subscriptions that steps see

A step is in the log before it begins, and state is saved now and then. A run that goes on takes the state up and does
the steps of the log again: they read the same, and write the same answers again, which changes nothing.

All of it is looked at before a run that goes on touches anything.
"""

import time
from collections.abc import Collection, Mapping
from pathlib import Path

import pyarrow as pa

from skerry.errors import CheckpointError
from skerry.fjord.saved_state import Progress, SavedState, ViewClock
from skerry.fjord.step_log import PlannedStep, StepLog
from skerry.model.folder_lock import FolderLock
from skerry.operators.operator import PageChanges, StatePages
from skerry.pipeline.checkpoint_folder import CheckpointFolder, make_folder
from skerry.pipeline.kept_tables import KeptTables
from skerry.replay.replay import Position
from skerry.sinks.sink import Sink
from skerry.sources.tables import Tables

__all__ = ["Checkpoint"]

_EVERY_SECONDS = 1.0
_LEAST_REST = 10
"""Saving takes no more than one part of time in so many."""


class Checkpoint(CheckpointFolder):
    """The checkpoint of a run, held until it is released.

    ``progress`` is what was saved last, and ``pages`` the state that was found. ``planned`` are the steps that an
    earlier process has begun since, and ``steps`` is how many it has begun in all.
    """

    def __init__(self, folder: Path, script: str, unit_rows: int) -> None:
        self._lock = FolderLock(make_folder(folder), "checkpoint")
        try:
            super().__init__(folder, "fjord", script, unit_rows)
            self._log = StepLog(self.folder / "steps", self.run)
            self._state = SavedState(self.part("state"))
            self.pages = self._state.read()
            self.progress = self._state.progress or Progress()
            self.planned = self._read_log()
            self.steps = self.progress.step + len(self.planned)
        except BaseException:
            self.release()
            raise
        self._next_save = time.monotonic() + _EVERY_SECONDS

    @property
    def newest_views(self) -> int:
        """The newest version of the views that a step has seen."""
        positions = [self.progress.position, *(step.position for step in self.planned)]
        return max((position["views"] for position in positions if position), default=0)

    def check_answers(self, sink: Sink, outputs: Collection[str]) -> None:
        """Refuse answers of steps that are not in the log: it comes first, so some of it is gone."""
        if self.steps and (last := sink.last_batch(outputs)) >= self.steps:
            wrong = f"ends with step {self.steps}, while there are answers of step {last + 1}: it was cut short"
            raise CheckpointError(str(self.folder / "steps"), wrong)

    def keep_tables(self, tables: Tables) -> None:
        """Find the versions of tables that steps may ask for again."""
        seen = [self.progress.tables, *(step.tables for step in self.planned)]
        self._tables = KeptTables(self.part("tables"), tables, {name for files in seen for name in files.values()})

    def read_tables(self, files: Mapping[str, str]) -> dict[str, pa.RecordBatch]:
        """The tables as a step saw them."""
        return {table: self._tables.read(name) for table, name in files.items()}

    def log(self, position: Position) -> PlannedStep:
        """Write a step down, with the tables as they are now, before it begins."""
        self._begin()
        planned = PlannedStep(position, self._tables.choose())
        self._log.append(planned)
        return planned

    def read_saved(self) -> tuple[Mapping[int, ViewClock], Mapping[int, StatePages]]:
        """The clocks and the state of all views as they were saved last, by their numbers."""
        return self.progress.clocks, self._state.read()

    def is_due(self) -> bool:
        """Whether it is time to save."""
        return time.monotonic() >= self._next_save

    def save(self, progress: Progress, changes: Mapping[int, PageChanges]) -> None:
        """Save state, and how far the run has come, which is no less than ``steps``: then the log is cut.

        All answers until then must be on the disk. ``changes`` are those of the views that keep state, since the last
        time.
        """
        started = time.monotonic()
        self._log.begin(progress.step)
        self._state.write(progress, changes)
        self.progress = progress
        self._log.cut(progress.step)
        self._tables.keep_only(set(progress.tables.values()))
        now = time.monotonic()
        self._next_save = now + max(_EVERY_SECONDS, _LEAST_REST * (now - started))

    def release(self) -> None:
        """Let other processes have the folder."""
        self._lock.release()

    def _begin(self) -> None:
        """Save that nothing has been done, so that a log or state that is missing later is found out."""
        if self._state.progress is None:
            self._log.begin(0)
            self._state.write(Progress(), {})

    def _read_log(self) -> list[PlannedStep]:
        """The steps since state was saved last; if it never was, there are none."""
        starts = self._log.list_starts()
        saved = self._state.progress
        if saved is not None and saved.step in starts:
            return self._log.read(saved.step)
        if saved is None and starts in ([], [0]) and not (starts and self._log.read(0)):
            return []
        missing = max([0, *starts])
        if saved is not None and missing <= saved.step:
            return self._log.read(saved.step)
        raise CheckpointError(str(self.folder / "state" / f"{missing:012}.*"), "is missing")
