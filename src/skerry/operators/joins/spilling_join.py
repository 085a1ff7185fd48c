"""The complete join within bounded memory."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple
from functools import partial

import numpy as np
import pyarrow as pa

from skerry.errors import LimitError, OptionError
from skerry.kernels.hash import hash_integers
from skerry.model.arrays import Int64s
from skerry.model.batch import join, pack, unpack
from skerry.model.time import START_OF_TIME, Micros
from skerry.operators.joins.arrivals import make_arrivals
from skerry.operators.joins.combiner import Combiner
from skerry.operators.joins.disk_phase import StreamTuples, revisit
from skerry.operators.joins.flush_policies import make_flush_policy
from skerry.operators.joins.make_technique import make_technique
from skerry.operators.joins.spill_partition import Partition, SpillFile
from skerry.operators.joins.spill_store import SpillStore
from skerry.operators.operator import Operator, PageChanges, StatePages
from skerry.plan.side import Side

__all__ = ["SpillingJoin"]

_CLOCK, _DISK = "clock", "disk"
_PARTITION_BITS = 4
_FOREVER = np.iinfo(np.int64).max


class SpillingJoin(Operator):
    """A ``MultiJoin`` that holds no more than ``memory_rows`` tuples in memory. The others are in ``spill``.

    Keys are spread over partitions by hash. If a batch does not fit, what has come is joined and the
    technique's policy says which tuples are flushed, until it does. Later tuples of the partition meet them
    when the partition is *revisited*: before tuples on disk are forgotten, when a quarter of them has ended; in
    an ``advance`` before which nothing came, the one that has waited longest; at the end of time. So all
    answers are given, each once, but some later than they could be. To revisit takes room for another
    ``memory_rows`` tuples, or for those of one key if they are more.

    State is that of memory, chunk by chunk, and the files, which are written anew when it is restored.

    Ali, Aref, Kamel: Multi-way Joins for Sensor-Network Databases, 2005, section 2.3.
    """

    def __init__(
        self,
        sides: Sequence[Side],
        spill: SpillStore,
        memory_rows: int,
        technique: str = "snjoin",
        limit: int = 10_000_000,
    ) -> None:
        if memory_rows < 1 or any(side.count for side in sides):
            raise OptionError("a join spills tuples of windows of time, beyond one or more, got", memory_rows)
        self._sides, self._spill, self._memory_rows, self._limit = tuple(sides), spill, memory_rows, limit
        self._combiner = Combiner(sides)
        self.schema = self._combiner.schema
        self._policy = make_flush_policy(technique)
        make = partial(make_technique, technique, [0] * len(sides), limit)
        self._partitions = [Partition(self._combiner, self._sides, make) for _ in range(1 << _PARTITION_BITS)]
        self._saved: set[int] = set()
        self._next_file = self._step = self._given = 0
        self._idle = True
        self._watermark: Micros = START_OF_TIME
        self.spilled_rows = 0

    @property
    def spilled_bytes(self) -> int:
        """How much has been written."""
        return self._spill.bytes_written

    def figures(self) -> Mapping[str, int]:
        """What went to disk."""
        return {"spilled_rows": self.spilled_rows, "spilled_bytes": self.spilled_bytes}

    @property
    def memory_count(self) -> int:
        """How many tuples are in memory."""
        return int(self._counts().sum())

    def transition(self, batch: pa.RecordBatch, stream: int = 0) -> pa.RecordBatch:
        """Take rows of one side in; what does not fit is joined at once, and what was there makes room."""
        piece = max(self._memory_rows // 4, 1)
        answers = [self._take(batch.slice(first, piece), stream) for first in range(0, batch.num_rows, piece)]
        return self._check_limit(answers)

    def advance(self, watermark: Micros) -> pa.RecordBatch:
        """Join what has come, revisit what must not wait longer, and forget what ends before ``watermark``."""
        answers = [self._join()]
        self._watermark = max(self._watermark, watermark)
        answers += [self._revisit(partition) for partition in self._due_partitions()]
        given = self._check_limit(answers)
        for partition in self._partitions:
            self._drop(partition.sweep(self._watermark))
        self._idle, self._given = True, 0
        return given

    def changes(self) -> PageChanges:
        """The new chunks in memory and the new files, and those not needed any more."""
        parts = [partition.changes() for partition in self._partitions]
        put = {f"{p}/{name}": blob for p, part in enumerate(parts) for name, blob in part.put.items()}
        drop = [f"{p}/{name}" for p, part in enumerate(parts) for name in part.drop]
        files = {number for partition in self._partitions for number in partition.files}
        put |= self._files(files - self._saved)
        drop += [_page(number) for number in sorted(self._saved - files)]
        self._saved = files
        return PageChanges(put | {_CLOCK: self._clock()}, drop)

    def snapshot(self) -> StatePages:
        """The chunks in memory, and the files."""
        pages = {
            f"{p}/{name}": blob for p, each in enumerate(self._partitions) for name, blob in each.snapshot().items()
        }
        files = {number for partition in self._partitions for number in partition.files}
        return pages | self._files(files) | {_CLOCK: self._clock()}

    def restore(self, pages: StatePages) -> None:
        """Take chunks over, and write files."""
        if _CLOCK not in pages:
            return
        clock = json.loads(pages[_CLOCK])
        self._step, self._watermark, self._idle = clock["step"], Micros(clock["watermark"]), clock["idle"]
        for number, (index, *file) in clock["files"].items():
            self._partitions[index].files[int(number)] = SpillFile(*file)
            self._spill.put(number, pages[_page(number)])
            self._saved.add(int(number))
        self._next_file = max(self._saved, default=-1) + 1
        self._policy.at_hand = clock["at_hand"]
        for index, partition in enumerate(self._partitions):
            before = (0, 0, self._watermark)  # of one without files, which forgets whenever time passes
            partition.settled, partition.newest, partition.swept = clock["settled"].get(str(index), before)
            mine = {name.partition("/")[2]: blob for name, blob in pages.items() if name.startswith(f"{index}/")}
            partition.restore(mine, self._step)
        if not any(partition.has_fresh for partition in self._partitions):
            self._make_room(0)

    def _take(self, batch: pa.RecordBatch, stream: int) -> pa.RecordBatch:
        """Take a part of a batch in, after what was there has made room for it."""
        self._idle = False
        arrivals, kept = make_arrivals(self._sides[stream], stream, batch, np.arange(batch.num_rows))
        kept &= arrivals.ends >= self._watermark
        answers = self._make_room(int(kept.sum()))
        partitions = hash_integers(arrivals.keys) >> np.uint64(64 - _PARTITION_BITS)
        for index in np.unique(partitions[kept]).tolist():
            mine = np.flatnonzero(kept & (partitions == index))
            self._partitions[index].add(arrivals.at(mine), batch.take(pa.array(mine)), self._step + 1)
        return answers

    def _join(self) -> pa.RecordBatch:
        """Join what has come, partition by partition: a step."""
        fresh = [partition for partition in self._partitions if partition.has_fresh]
        self._step += bool(fresh)
        return join([partition.join(self._step) for partition in fresh], self.schema)

    def _make_room(self, needed: int) -> pa.RecordBatch:
        """Flush until so many tuples fit in. None leaves memory before it has met those that are there."""
        if self.memory_count + needed <= self._memory_rows:
            return self._combiner.nothing
        answers = self._join()
        while (counts := self._counts()).any() and counts.sum() + needed > self._memory_rows:
            index, streams = self._policy.choose(counts)
            self._flush(self._partitions[index], streams)
        return answers

    def _flush(self, partition: Partition, streams: Sequence[int]) -> None:
        if not partition.files:
            partition.settled = self._step
        for stream in streams:
            tuples = partition.tuples_in_memory(stream)
            if tuples.num_rows:
                last_end = int(self._sides[stream].moments(tuples)[1].max())
                partition.files[self._next_file] = SpillFile(stream, tuples.num_rows, self._step, last_end)
                self._spill.put(str(self._next_file), pack(tuples))
                self._next_file += 1
                self.spilled_rows += tuples.num_rows
        partition.vacate(streams)

    def _due_partitions(self) -> list[Partition]:
        """The partitions to revisit."""
        due = [partition for partition in self._partitions if partition.is_due(self._watermark)]
        waiting = [partition for partition in self._partitions if partition.is_waiting]
        if self._idle and waiting and not due:
            due = [min(waiting, key=lambda partition: partition.settled)]
        return due

    def _revisit(self, partition: Partition) -> pa.RecordBatch:
        """The answers that have waited. If there are too many tuples, some of the keys are visited at a time."""
        turns = -(-(partition.spilled_count + sum(partition.counts)) // self._memory_rows)
        answers = []
        for turn in range(turns):
            all_tuples = [self._read_stream(partition, stream, turn, turns) for stream in range(len(self._sides))]
            answers.append(revisit(self._sides, all_tuples, partition.settled, self._combiner, self._limit))
        partition.settled = self._step
        return join(answers, self.schema)

    def _read_stream(self, partition: Partition, stream: int, turn: int, turns: int) -> StreamTuples:
        files = [(number, file.until) for number, file in partition.files.items() if file.stream == stream]
        batches = [self._in_turn(partition.tuples_in_memory(stream), stream, turn, turns)]
        batches += [self._in_turn(unpack(self._spill.get(str(file))), stream, turn, turns) for file, _ in files]
        last_steps = [_FOREVER, *(until for _, until in files)]
        return StreamTuples(
            join(batches, batches[0].schema), np.repeat(last_steps, [batch.num_rows for batch in batches])
        )

    def _in_turn(self, tuples: pa.RecordBatch, stream: int, turn: int, turns: int) -> pa.RecordBatch:
        """The tuples whose keys are visited in a turn."""
        if turns == 1:
            return tuples
        keys = make_arrivals(self._sides[stream], stream, tuples, np.arange(tuples.num_rows))[0].keys
        return tuples.filter(pa.array(hash_integers(keys) % np.uint64(turns) == turn))

    def _check_limit(self, answers: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
        """All answers, if a step may give so many."""
        self._given += sum(batch.num_rows for batch in answers)
        if self._given > self._limit:
            raise LimitError(f"a step gives {self._given} combinations of tuples or more, the limit is", self._limit)
        return join(answers, self.schema)

    def _counts(self) -> Int64s:
        return np.array([partition.counts for partition in self._partitions], np.int64)

    def _drop(self, files: Iterable[int]) -> None:
        for number in files:
            self._spill.drop(str(number))

    def _files(self, numbers: Iterable[int]) -> dict[str, bytes]:
        return {_page(number): self._spill.get(str(number)) for number in sorted(numbers)}

    def _clock(self) -> bytes:
        """The step, the watermark, and what must be known of the files and of the partitions that have some."""
        spilled = {index: partition for index, partition in enumerate(self._partitions) if partition.files}
        files = {
            number: (index, *astuple(file)) for index, each in spilled.items() for number, file in each.files.items()
        }
        settled = {index: (each.settled, each.newest, each.swept) for index, each in spilled.items()}
        clock = {"step": self._step, "watermark": self._watermark, "idle": self._idle, "at_hand": self._policy.at_hand}
        return json.dumps({**clock, "files": files, "settled": settled}).encode()


def _page(file: int | str) -> str:
    return f"{_DISK}/{file}"
