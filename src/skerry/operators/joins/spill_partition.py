"""One hash partition of a join whose tuples do not all fit into memory."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa

from skerry.model.arrays import Int64s
from skerry.model.time import START_OF_TIME, Micros
from skerry.operators.joins.arrivals import Arrivals, make_arrivals, merge_by_time
from skerry.operators.joins.combiner import Combiner
from skerry.operators.joins.row_store import RowStore
from skerry.operators.joins.technique import Technique
from skerry.operators.operator import PageChanges, StatePages
from skerry.plan.side import Side

__all__ = ["Partition", "SpillFile", "first_steps"]

_SINCE = pa.field("#since", pa.int64())
_FOREVER = np.iinfo(np.int64).max


@dataclass(frozen=True)
class SpillFile:
    """Tuples of one stream that left memory together, after step ``until``."""

    stream: int
    rows: int
    until: int
    last_end: int
    """When none of them is live any more."""


@dataclass
class _StreamMemory:
    """A stream's tuples in memory, and the pages they are saved in. When it is emptied, the pages get new names."""

    stream: int
    store: RowStore
    number: int = 0
    saved: set[str] = field(default_factory=set)

    @property
    def name(self) -> str:
        return f"{self.stream}/{self.number}"

    def changes(self) -> PageChanges:
        changes = self.store.changes()
        put = {f"{self.name}/{chunk}": blob for chunk, blob in changes.put.items()}
        drop = [f"{self.name}/{chunk}" for chunk in changes.drop]
        self.saved = (self.saved | put.keys()) - set(drop)
        return PageChanges(put, drop)

    def snapshot(self) -> StatePages:
        return {f"{self.name}/{chunk}": blob for chunk, blob in self.store.snapshot().items()}

    def restore(self, pages: StatePages) -> None:
        mine = [name for name in pages if name.startswith(f"{self.stream}/")]
        self.number = max((int(name.split("/")[1]) for name in mine), default=0)
        self.store.restore({name.split("/")[2]: pages[name] for name in mine})
        self.saved = set(mine)


class Partition:
    """The tuples of all streams whose keys share a hash: those in memory, and the files of those on disk.

    Every tuple knows the step *since* which it is in memory, every file the step *until* which its tuples
    were. Tuples meet in memory if they are there at the same time; all that came in ``settled`` and before
    have met, wherever they are now. As long as tuples may have to meet that did not, the partition *is waiting*,
    and nothing in it is forgotten.
    """

    def __init__(self, combiner: Combiner, sides: Sequence[Side], make_technique: Callable[[], Technique]) -> None:
        self._combiner, self._sides, self._make_technique = combiner, sides, make_technique
        self._technique = make_technique()
        self._memories = [_StreamMemory(stream, _store(side)) for stream, side in enumerate(sides)]
        self._retired: set[str] = set()
        self._fresh: list[Arrivals] = []
        self.files: dict[int, SpillFile] = {}
        self.settled = self.newest = 0
        self.swept: Micros = START_OF_TIME
        """What ended before is forgotten in memory."""

    @property
    def counts(self) -> list[int]:
        """How many tuples of each stream are in memory, without those that are forgotten."""
        return [memory.store.live_count for memory in self._memories]

    @property
    def spilled_count(self) -> int:
        """How many tuples are on disk."""
        return sum(file.rows for file in self.files.values())

    @property
    def has_fresh(self) -> bool:
        """Whether tuples have come that are not joined yet."""
        return bool(self._fresh)

    @property
    def is_waiting(self) -> bool:
        """Whether tuples may have to meet that have not been in memory together."""
        return bool(self.files) and self.newest > self.settled

    def is_due(self, watermark: Micros) -> bool:
        """Whether a quarter of what is on disk could be forgotten if the partition were not waiting.

        So a tuple is read again about four times at the most, however many steps its window is long.
        """
        ended = sum(file.rows for file in self.files.values() if file.last_end < watermark)
        return self.is_waiting and 4 * ended >= self.spilled_count

    def add(self, arrivals: Arrivals, batch: pa.RecordBatch, step: int) -> None:
        """Take tuples of one stream in, to be joined in ``step``."""
        columns = [*batch.columns, pa.array(np.full(batch.num_rows, step, np.int64))]
        stream = int(arrivals.streams[0])
        schema = _with_since(self._sides[stream].schema)
        first = self._memories[stream].store.add(pa.RecordBatch.from_arrays(columns, schema=schema), arrivals.ends)
        self._fresh.append(replace(arrivals, rows=np.arange(first, first + batch.num_rows)))

    def join(self, step: int) -> pa.RecordBatch:
        """Let the tuples that have come meet those in memory, and each other."""
        if not self._fresh:
            return self._combiner.nothing
        arrivals, self._fresh, self.newest = merge_by_time(self._fresh), [], step
        found = self._technique.arrive(arrivals)
        return self._combiner.combine([memory.store.take(found[:, memory.stream]) for memory in self._memories])

    def tuples_in_memory(self, stream: int) -> pa.RecordBatch:
        """The tuples of a stream that are in memory; their last column says since when."""
        return self._memories[stream].store.live_rows()[1]

    def vacate(self, streams: Iterable[int]) -> None:
        """Let go of all tuples that some streams have in memory."""
        for stream in streams:
            memory = self._memories[stream]
            self._retired |= memory.saved
            self._memories[stream] = _StreamMemory(stream, _store(self._sides[stream]), memory.number + 1)
        self._rebuild(_FOREVER)

    def sweep(self, watermark: Micros) -> list[int]:
        """Forget what has ended, unless the partition is waiting; give the files that are not needed any more."""
        self._technique.sweep(watermark)
        if self.is_waiting:
            return []
        self._forget(watermark)
        gone = [number for number, file in self.files.items() if file.last_end < watermark]
        for number in gone:
            del self.files[number]
        return gone

    def changes(self) -> PageChanges:
        """The new chunks of what is in memory, and those not needed any more."""
        parts = [memory.changes() for memory in self._memories]
        drop = [*sorted(self._retired), *(name for part in parts for name in part.drop)]
        self._retired = set()
        return PageChanges({name: blob for part in parts for name, blob in part.put.items()}, drop)

    def snapshot(self) -> StatePages:
        """All chunks of what is in memory."""
        return {name: blob for memory in self._memories for name, blob in memory.snapshot().items()}

    def restore(self, pages: StatePages, step: int) -> None:
        """Take chunks over. Tuples of steps after ``step`` are still to be joined."""
        for memory in self._memories:
            memory.restore(pages)
        self._forget(self.swept)  # a page may have rows that ended after it was saved
        self._fresh = self._rebuild(step)

    def _forget(self, moment: Micros) -> None:
        self.swept = moment
        for memory in self._memories:
            memory.store.forget(moment)

    def _rebuild(self, step: int) -> list[Arrivals]:
        """Give what is in memory to a new technique; all but the tuples of later steps, which come back."""
        later, earlier = [], []
        for memory in self._memories:
            rows, batch = memory.store.live_rows()
            arrivals, _ = make_arrivals(self._sides[memory.stream], memory.stream, batch, rows)
            is_later = first_steps(batch) > step
            earlier.append(arrivals.at(np.flatnonzero(~is_later)))
            later.append(arrivals.at(np.flatnonzero(is_later)))
        self._technique = self._make_technique()
        self._technique.load(merge_by_time(earlier))
        return [arrivals for arrivals in later if arrivals.count]


def first_steps(batch: pa.RecordBatch) -> Int64s:
    """The step since which each row is in memory, or was."""
    return batch.column(_SINCE.name).to_numpy()


def _with_since(schema: pa.Schema) -> pa.Schema:
    return schema.append(_SINCE)


def _store(side: Side) -> RowStore:
    return RowStore(_with_since(side.schema))
