"""A checkpoint folder: Spark's own log and state, our record of progress, and who uses it.

    run.json            which run it is, and what was asked for (``pipeline.checkpoint_folder``)
    layout.json         over how many buckets its state is spread; buckets-N/ has what they began with
    progress.json       what is known after the last batches
    tables/, registry/, views/  the versions of tables, subscriptions and views that batches see
    plans-N/            the versions of the views as the workers of one process open them
    processes.json      who uses the folder now
    spark/              Spark's log and state

All of it is looked at before a run that goes on touches anything: a file that is damaged, missing or of another run is
refused, for Spark would take its log for shorter, or for new, and the answers written so far would be replaced.
"""

import json
import os
import time
from pathlib import Path

from skerry.errors import CheckpointError, InputError, RunError
from skerry.pipeline.checkpoint_folder import CheckpointFolder
from skerry.spark.layout import Layout
from skerry.spark.progress import RECORD, Progress
from skerry.spark.saved_layout import LAYOUT, SavedLayout
from skerry.spark.spark_log import SparkLog

__all__ = ["Checkpoint"]

_PATIENCE_SECONDS = 30.0
_PROCESSES = "processes.json"
_UNDIVIDED = 2**62


class Checkpoint(CheckpointFolder):
    """What a run on Spark must keep to go on after a crash.

    A first run begins with ``bucket_count`` buckets. ``begun`` is true once a batch has been planned, and ``resumed``
    once one has been delivered.
    """

    def __init__(
        self, folder: Path, bucket_count: int, script: str, unit_rows: int = _UNDIVIDED, *, kept: bool = True
    ) -> None:
        super().__init__(folder, "spark", script, unit_rows, kept=kept)
        self.log = SparkLog(self.folder / "spark", synced=kept)
        self.progress = Progress(self.files)
        self.layout = self._find_layout(bucket_count)
        self.log.check(self.progress, self.files.file(RECORD), self.layout)
        self.log.drop_unfinished(self.progress)
        self.begun, self.resumed = self.log.begun, self.progress.next_batch > 0

    def _find_layout(self, bucket_count: int) -> SavedLayout:
        """How state is spread: as written down, or before the first batch as asked for."""
        if self.files.file(LAYOUT).exists() or self.log.begun:
            return SavedLayout.from_json(self.files.read(LAYOUT), self.part)
        found = SavedLayout(Layout(bucket_count))
        self.keep_layout(found)
        return found

    def keep_layout(self, layout: SavedLayout) -> None:
        """Write down how state is spread from now on."""
        self.files.write(LAYOUT, layout.to_json())
        self.layout = layout

    def take(self, processes: list[int]) -> None:
        """Claim the folder for these processes, waiting for those of a run that was killed to end."""
        deadline = time.monotonic() + _PATIENCE_SECONDS
        others = [(process, started) for process, started in self._read_processes() if process not in processes]
        while alive := [process for process, started in others if _is_alive(process, started)]:
            if time.monotonic() >= deadline:
                raise RunError(f"the checkpoint {str(self.folder)!r} is in use by process {alive[0]}")
            time.sleep(0.1)
        found = [(process, _find_start(process)) for process in processes]
        self.files.write(_PROCESSES, json.dumps(found).encode())
        self.log.drop_undone()

    def release(self) -> None:
        """Nobody uses the folder any more."""
        self.files.file(_PROCESSES).unlink(missing_ok=True)

    def _read_processes(self) -> list[tuple[int, str]]:
        path = self.files.file(_PROCESSES)
        if not path.exists():
            return []
        try:
            return [(process, started) for process, started in json.loads(self.files.read(_PROCESSES))]
        except CheckpointError as error:
            wrong = f"{str(path)!r} {error.args[1]}, so it cannot be told who uses the checkpoint"
            raise InputError(f"{wrong}; delete this file if no other run does") from None


def _is_alive(process: int, started: str) -> bool:
    """Whether it is this process that is there, and not another that got its number."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return not _is_zombie(process) and _find_start(process) == started


def _find_start(process: int) -> str:
    """When a process started, in the ticks of its system, which are no time anywhere else; empty if it is not told."""
    status = _read_status(process)
    return status[19] if status else ""


def _is_zombie(process: int) -> bool:
    """A killed process whose parent has not asked for it yet does nothing any more."""
    return _read_status(process)[:1] == ["Z"]


def _read_status(process: int) -> list[str]:
    """What Linux says of a process, from its state on; nothing if it says nothing."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []
