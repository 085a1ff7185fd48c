"""Skerry's own streaming data source: one offset for all of its readers.

Spark asks it on the driver how far a batch may go (a position of ``sources.replay``, logged ahead of
the batch) and reads the splits in between on the executors, where they are routed at once: what
enters the JVM is envelopes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import heapreplace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, SupportsTriggerAvailableNow
from pyspark.sql.types import StructType

from skerry.model.time import END_OF_TIME
from skerry.spark.envelope import SPARK_SCHEMA
from skerry.spark.lazy_pickle import LazyPickle

if TYPE_CHECKING:  # loaded where the pickle is opened: see skerry.spark.lazy_pickle
    from skerry.replay.replay import Position, Replay
    from skerry.sources.source import Split
    from skerry.spark.route import RouteSettings

__all__ = ["FORMAT", "make_data_source"]

FORMAT = "skerry"


class _TaskInput(InputPartition):
    """What one task reads of a step, and what it has to know of the position at its end."""

    def __init__(self, task: int, splits: Sequence[Split], end: Position) -> None:
        super().__init__(task)
        self.task, self.splits, self.end = task, tuple(splits), end


class _Reader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Plans on the driver, reads on the executors.

    ``finish`` ends the input after what is there; ``paused`` plans no further step.
    """

    def __init__(self, settings: LazyPickle[RouteSettings], tasks: int, *, finish: bool, paused: bool) -> None:
        self._settings, self._tasks, self._finish, self._paused = settings, tasks, finish, paused
        self._planner: Replay | None = None
        self._begun = False

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_planner": None}

    def initialOffset(self) -> Position:
        return self._replay().start()

    def prepareForTriggerAvailableNow(self) -> None:
        """A bounded source knows its own end."""

    def getDefaultReadLimit(self) -> ReadLimit:
        return ReadAllAvailable()

    def latestOffset(self, start: Position, limit: ReadLimit) -> Position:
        if self._paused or self._starts_workers(start):
            return start
        following = self._replay().next(start)
        if not self._settings.open().pipeline.foreign:
            return following
        # Other sources are read beside this one: the end is announced when ``finish`` says that they have ended too.
        if following["lanes"] != start["lanes"]:
            return {**following, "done": False}
        return {**start, "step": start["step"] + 1, "done": True} if self._finish and not start["done"] else start

    def commit(self, end: Position) -> None:
        """What a batch that is done has read is not needed again."""
        self._replay().forget(end)

    def partitions(self, start: Position, end: Position) -> Sequence[InputPartition]:
        if start == end:
            return []
        known = {name: end[name] for name in ("done", "lag", "shares", "blameless", "version")}
        known |= {"ended": end.get("ended", []), "before": start["until"]}
        by_task = _balance(self._replay().splits(start, end), self._tasks)
        return [_TaskInput(task, splits, known) for task, splits in enumerate(by_task)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, _TaskInput)
        settings = self._settings.open()
        streams = [connector.definition.name for connector in settings.pipeline.connectors]
        router = settings.make_router(partition.task, streams, partition.end["before"])
        router.intake.register(partition.end["version"])
        for split in partition.splits:
            router.intake.read_split(split)
        if partition.task == 0:
            router.pace(partition.end["lag"], partition.end["shares"], partition.end["blameless"])
        for source in partition.end["ended"]:
            router.intake.note_newest(source, END_OF_TIME)
        yield settings.send(router.envelopes(done=partition.end["done"]))

    def _starts_workers(self, start: Position) -> bool:
        """Whether the first batch is at hand. It takes seconds, for workers start, so live sources begin after it."""
        first = not self._begun and start["step"] == 0 and self._settings.open().pipeline.live
        self._begun = True
        return first

    def _replay(self) -> Replay:
        if self._planner is None:
            self._planner = self._settings.open().pipeline.plan_steps()
        return self._planner


def _balance(splits: Sequence[Split], tasks: int) -> list[list[Split]]:
    """Give each task about the same work: the heaviest first, to whoever has least. At least one task."""
    by_task: list[list[Split]] = [[] for _ in range(max(1, min(tasks, len(splits))))]
    loads = [(0.0, task) for task in range(len(by_task))]
    for split in sorted(splits, key=_work, reverse=True):
        load, task = loads[0]
        by_task[task].append(split)
        heapreplace(loads, (load + _work(split), task))
    return by_task


def _work(split: Split) -> float:
    """About how many readings are decoded: of a unit that is cut at its end, say half."""
    units = split.stop - split.start
    return split.weight if split.until is None else split.weight * (units - 0.5) / units


def make_data_source(
    settings: RouteSettings, tasks: int, *, finish: bool = False, paused: bool = False
) -> type[DataSource]:
    """A data source class for one pipeline. Spark carries the class, and all it holds, to its workers."""
    packed = LazyPickle(settings)

    class SkerrySource(DataSource):
        @classmethod
        def name(cls) -> str:
            return FORMAT

        def schema(self) -> str:
            return SPARK_SCHEMA

        def streamReader(self, schema: StructType) -> DataSourceStreamReader:
            return _Reader(packed, tasks, finish=finish, paused=paused)

    return SkerrySource
