"""Writes accepted readings where they are: in process, or in the tasks beside a source. Picklable."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from skerry.catalog import Source
from skerry.history.folder import BATCH, ORDER, POSITION, HistoryFolder
from skerry.model.arrays import Int64s
from skerry.model.arrival import STAMPS
from skerry.model.atomic_write import replace_atomically, sync
from skerry.model.batch import join
from skerry.model.time import MICROS
from skerry.sinks.formats import write_rows
from skerry.sinks.parts import name_part

__all__ = ["HistoryWriter"]

_UNDATED = "undated"
_TASK_SHIFT = 32
"""A task has fewer readings in a batch than this many bits count: the positions of tasks lie one behind the other."""


@dataclass(frozen=True)
class HistoryWriter:
    """Which streams are kept, and how batches are numbered: on from those of all runs before.

    Batch ``batch`` of this run is number ``first``.
    """

    folder: HistoryFolder
    streams: Mapping[str, Source]
    first: int = 0
    batch: int = 0
    synced: bool = False
    own: tuple[range, ...] = ()
    """The numbers of this run's batches."""

    def number(self, batch: int) -> int:
        """The number of a batch of this run."""
        return self.first + batch - self.batch

    def write_part(self, stream: str, batch: int, task: int, accepted: Sequence[pa.RecordBatch]) -> None:
        """Leave what a task has of a batch where the recording finds it; what it left at an earlier attempt is gone."""
        number, rows = self.number(batch), self.add_order(stream, batch, task, accepted)
        written = []
        for day, of_day in self.split_by_day(stream, rows):
            path = self.staged(stream, number) / day / f"{name_part(number, task=task)}.parquet"
            path.parent.mkdir(parents=True, exist_ok=True)
            with replace_atomically(path) as beside:
                write_rows(beside, of_day, "parquet")
            written.append(path)
        if self.synced:
            sync(written)

    def staged(self, stream: str, number: int) -> Path:
        """Where the files of a batch wait, each in a folder of its day."""
        return self.folder.staged / stream / str(number)

    def add_order(self, stream: str, batch: int, task: int, accepted: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
        """Readings with the columns that say where they stand in the run."""
        rows = join(accepted, accepted[0].schema)
        declared = self.streams[stream].schema
        positions = np.arange(rows.num_rows, dtype=np.int64) + (task << _TASK_SHIFT)
        order = {
            BATCH: pa.array(np.full(rows.num_rows, self.number(batch), np.int64)),
            POSITION: pa.array(positions),
            **{field.name: rows.column(field.name) for field in STAMPS},
        }
        columns = [*(rows.column(name) for name in declared.names), *(order[field.name] for field in ORDER)]
        return pa.RecordBatch.from_arrays(columns, schema=pa.schema([*declared, *ORDER]))

    def split_by_day(self, stream: str, rows: pa.RecordBatch) -> Iterator[tuple[str, pa.RecordBatch]]:
        """Readings by the day of their event time; they stay in order."""
        event_time = self.streams[stream].event_time
        if event_time is None:
            yield f"day={_UNDATED}", rows
            return
        moments: Int64s = rows.column(event_time).cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
        days = moments // MICROS["DAY"]
        for day in np.unique(days):
            of_day = rows if days.size and (days == day).all() else rows.filter(pa.array(days == day))
            yield f"day={np.datetime64(int(day), 'D')}", of_day
