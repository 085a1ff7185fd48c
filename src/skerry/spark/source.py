"""Skerry's own streaming data source: one offset for all of its readers.

Spark asks it on the driver how far a batch may go (a position of ``sources.replay``, logged ahead of
the batch) and reads the splits in between on the executors, where they are routed at once: what
enters the JVM is envelopes.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from heapq import heapreplace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, SupportsTriggerAvailableNow
from pyspark.sql.types import StructType

from skerry.model.time import END_OF_TIME
from skerry.spark.batch_views import BatchViews, views_of_task
from skerry.spark.envelope import SPARK_SCHEMA, Envelope
from skerry.spark.lazy_pickle import LazyPickle
from skerry.spark.progress import batch_of_task, newest_before_task

if TYPE_CHECKING:  # loaded where the pickle is opened: see skerry.spark.lazy_pickle
    from skerry.pipeline.step_plan import StepPlan
    from skerry.replay.replay import Position, Replay
    from skerry.sources.source import Split
    from skerry.spark.route import Router, RouteSettings

__all__ = ["FORMAT", "make_data_source"]

FORMAT = "skerry"
_BEAT_SECONDS = 1.0
"""How often there is a batch, though nothing is new, where other sources may be idle."""


class _TaskInput(InputPartition):
    """What one task reads of a step, and what it has to know of the position at its end.

    ``facts`` is what views that come with the step have to know of steps before.
    """

    def __init__(self, task: int, splits: Sequence[Split], end: Position, facts: Sequence[Split] = ()) -> None:
        super().__init__(task)
        self.task, self.splits, self.end, self.facts = task, tuple(splits), end, tuple(facts)


class _Reader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Plans on the driver, reads on the executors.

    ``finish`` ends the input after what is there; ``paused`` plans no further step; ``beats`` plans one now and then
    though nothing is new.
    """

    def __init__(
        self,
        plan: LazyPickle[StepPlan],
        settings: LazyPickle[RouteSettings],
        tasks: int,
        *,
        finish: bool,
        paused: bool,
        beats: bool,
    ) -> None:
        self._plan, self._settings = plan, settings
        self._tasks, self._finish, self._paused = tasks, finish, paused
        self._beats = beats
        self._planner: Replay | None = None
        self._begun = False
        self._beaten = 0.0

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
        if not self._plan.open().has_foreign:
            return following
        # Other sources are read beside this one: the end is announced when ``finish`` says that they have ended too.
        is_beat = following["until"] != start["until"] and not following["done"]
        if following["lanes"] != start["lanes"] or following["views"] != start["views"] or is_beat:
            return {**following, "done": False}
        ends = self._finish and not start["done"]
        return {**start, "step": start["step"] + 1, "done": ends} if ends or self._is_time_to_beat() else start

    def _is_time_to_beat(self) -> bool:
        """Whether a batch without readings is due: that live sources of Spark's are quiet is noticed with batches."""
        if not self._beats or time.monotonic() - self._beaten < _BEAT_SECONDS:
            return False
        self._beaten = time.monotonic()
        return True

    def commit(self, end: Position) -> None:
        """What a batch that is done has read is not needed again."""
        self._replay().forget(end)

    def partitions(self, start: Position, end: Position) -> Sequence[InputPartition]:
        if start == end:
            return []
        known = {name: end[name] for name in ("done", "lag", "shares", "blameless", "version")}
        known |= {"ended": end.get("ended", []), "before": start["until"]}
        by_task = _balance(self._replay().splits(start, end), self._tasks)
        facts = self._list_facts(start, end) if end["views"] != start["views"] else ()
        return [_TaskInput(task, splits, known, () if task else facts) for task, splits in enumerate(by_task)]

    def _list_facts(self, start: Position, end: Position) -> Sequence[Split]:
        """What batches before have read of the tables that are read as facts: views that come need to know it too."""
        replay = self._replay()
        connectors = replay.connectors
        tables = {name: lanes for name, lanes in start["lanes"].items() if connectors[name].definition.is_table}
        return replay.splits(replay.start(), {**start, "lanes": tables, "views": end["views"]})

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, _TaskInput)
        settings = self._settings.open().see_batch()
        streams = [connector.definition.name for connector in settings.pipeline.connectors]
        router = settings.make_router(partition.task, streams, partition.end["before"])
        router.intake.register(partition.end["version"])
        if settings.plans and partition.task == 0:
            seen = views_of_task()
            router.read_facts(partition.facts, seen.came)
            yield from map(settings.send, _read_past(settings, router, seen))
        for split in partition.splits:
            router.intake.read_split(split)
        if partition.task == 0:
            router.pace(partition.end["lag"], partition.end["shares"], partition.end["blameless"])
        for source in partition.end["ended"]:
            router.intake.note_newest(source, END_OF_TIME)
        yield settings.send(router.envelopes(done=partition.end["done"]))

    def _starts_workers(self, start: Position) -> bool:
        """Whether the first batch is at hand. It takes seconds, for workers start, so live sources begin after it."""
        first = not self._begun and start["step"] == 0 and self._plan.open().live
        self._begun = True
        return first

    def _replay(self) -> Replay:
        if self._planner is None:
            self._planner = self._plan.open().begin()
        return self._planner


def _read_past(settings: RouteSettings, router: Router, seen: BatchViews) -> Iterator[list[Envelope]]:
    from skerry.spark.read_history import read_history  # operators and all: only where tasks read

    return read_history(router, settings.pipeline, seen, batch_of_task(), newest_before_task())


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
    settings: RouteSettings, tasks: int, *, finish: bool = False, paused: bool = False, beats: bool = False
) -> type[DataSource]:
    """A data source class for one pipeline. Spark carries the class, and all it holds, to its workers.

    ``beats`` lets batches follow each other though nothing is new.
    """
    # Apart: the process that plans starts anew with every query, and to load operators takes it half a second.
    plan, packed = LazyPickle(replace(settings.pipeline.step_plan, views=settings.plans)), LazyPickle(settings)

    class SkerrySource(DataSource):
        @classmethod
        def name(cls) -> str:
            return FORMAT

        def schema(self) -> str:
            return SPARK_SCHEMA

        def streamReader(self, schema: StructType) -> DataSourceStreamReader:
            return _Reader(plan, packed, tasks, finish=finish, paused=paused, beats=beats)

    return SkerrySource
