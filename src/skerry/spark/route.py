"""route: readings in, envelopes out. Runs inside the source, or in ``mapInArrow`` behind another.

A task passes its readings through the gate, runs the first part of every view that reads them,
spreads what that gives over buckets, and tells every bucket how far time has come.
"""

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial

import numpy as np
import pyarrow as pa

from skerry.build.stages import Feed, Stages
from skerry.catalog import Source
from skerry.model.batch import join, pack
from skerry.model.time import END_OF_TIME, START_OF_TIME, Micros
from skerry.operators.grouping import buckets
from skerry.operators.operator import Operator
from skerry.pipeline.gate import Gate, Tally
from skerry.pipeline.pipeline import Outcome, Pipeline, dead_letters
from skerry.pipeline.skew import hot_keys
from skerry.replay.pace import lagging
from skerry.sinks.sink import PartWriter
from skerry.sources.source import Split
from skerry.spark.envelope import DIRECT, MILLION, PART_BYTES, SHARE, TALLY, Envelope
from skerry.spark.progress import batch_of_task, newest_before_task
from skerry.spark.tables import tables_of_task
from skerry.subscriptions.counters import COUNTS, added
from skerry.subscriptions.registry import Registry
from skerry.subscriptions.versions import registry_at

__all__ = ["Router", "Routing", "live_buckets"]


def live_buckets(view: Stages, count: int) -> range:
    """The buckets that hold a view's state: without keys there is nothing to spread."""
    return range(count if view.spread else 1)


@dataclass(frozen=True)
class Routing:
    """What the route tasks of a run share; it travels to the executors."""

    pipeline: Pipeline
    bucket_count: int
    part_writer: PartWriter | None = None

    def router(self, task: int, streams: Collection[str]) -> "Router":
        """The work of the Spark task that asks."""
        write_part = partial(_write_part, self.part_writer, batch_of_task(), task) if self.part_writer else None
        tables = tables_of_task(table.name for table in self.pipeline.tables)
        return Router(self.pipeline, self.bucket_count, task, newest_before_task(), streams, write_part, tables)


def _write_part(part_writer: PartWriter, batch: int, task: int, output: str, rows: pa.RecordBatch) -> None:
    part_writer.write_part(output, batch, task, rows)


class Router:
    """One task's work over some streams. ``newest`` is that of the batches before."""

    def __init__(
        self,
        pipeline: Pipeline,
        bucket_count: int,
        task: int,
        newest: Mapping[str, Micros],
        streams: Collection[str],
        write_part: Callable[[str, pa.RecordBatch], None] | None = None,
        tables: Mapping[str, pa.RecordBatch] | None = None,
    ) -> None:
        self._pipeline, self._bucket_count, self._task, self._streams = pipeline, bucket_count, task, streams
        self._write_part, self._tables = write_part, tables or {}
        self._connectors = {connector.definition.name: connector for connector in pipeline.connectors}
        self._newest = dict(newest)
        self._operators: dict[tuple[int, str], Operator] = {}
        self._routed: dict[tuple[int, str], list[pa.RecordBatch]] = {}
        self._direct: dict[str, list[pa.RecordBatch]] = {}
        self._outcome = Outcome()
        self._shares: dict[str, float] = {}
        self._registry: Registry | None = None

    def register(self, version: int) -> None:
        """Let the subscriptions of a version be answered too."""
        if self._pipeline.registry:
            self._registry = registry_at(self._pipeline.registry, version)
            self._outcome = self._outcome.then(Outcome(version=version))

    def take(self, split: Split) -> None:
        """Read a split of one of Skerry's own sources."""
        connector = self._connectors[split.source]
        gate, stamp = self.gate(connector.definition), self._pipeline.stamp(split)
        for decoded in connector.read(split):
            readings = stamp.put_on(decoded.readings) if stamp else decoded.readings
            self.admit(connector.definition, gate, readings, decoded.rejects)
        self.learn(split.source, split.cap_at_horizon(gate.newest))

    def gate(self, source: Source, *, ordered: bool = True) -> Gate:
        """A gate for a split, standing where the batches before have left it."""
        return Gate(source, self._newest.get(source.name, START_OF_TIME), ordered=ordered)

    def admit(self, source: Source, gate: Gate, readings: pa.RecordBatch, rejects: pa.RecordBatch) -> None:
        """Pass decoded readings through the gate and on to the views."""
        accepted, late = gate.admit(readings)
        tally = Tally(accepted.num_rows, late.num_rows, rejects.num_rows)
        self._outcome = self._outcome.then(Outcome({source.name: tally}))
        self._keep(dead_letters(source.name), rejects)
        for output in self._pipeline.late_outputs(source.name):
            self._keep(output, late.select(source.schema.names))
        for number, view, feed in self._pipeline.readers(source.name):
            self._run(number, view, feed, accepted)
        for output, rows in self._pipeline.matches(source.name, accepted, self._registry):
            self._keep(output, rows)

    def learn(self, source: str, newest: Micros) -> None:
        """Note how far a source has come with what was admitted."""
        self._outcome = self._outcome.then(Outcome(newest={source: newest}))

    def pace(self, lag_us: int, shares: Mapping[str, float], blameless: Sequence[str] = ()) -> None:
        """Note how far the step began behind, the share of it that some views may take in, and who is not to blame."""
        self._outcome = self._outcome.then(Outcome(lag_us=lag_us, figures=lagging(blameless)))
        self._shares = dict(shares)

    def envelopes(self, *, done: bool) -> Iterator[Envelope]:
        """All that the task has to send. ``done`` says that the whole input is used up."""
        if counts := self._direct.pop(COUNTS, []):
            yield Envelope(DIRECT, self._task, self._task, COUNTS, 0, pack(added(counts)))
        for output, batches in self._direct.items():
            yield self._to_deliver(output, join(batches, batches[0].schema))
        for number, view in enumerate(self._pipeline.views):
            for feed in view.feeds if view.stateful else ():
                if done or feed.source.name in self._streams:
                    yield from self._addressed(number, view, feed, done=done)
            if view.name in self._shares:
                yield Envelope(number, 0, self._task, SHARE, round(self._shares[view.name] * MILLION))
        yield Envelope(DIRECT, self._task, self._task, TALLY, 0, json.dumps(asdict(self._outcome)).encode())

    def _to_deliver(self, output: str, rows: pa.RecordBatch) -> Envelope:
        """Rows for the sink: in the envelope, or written as a part, with only their number in it, if they are many."""
        if self._write_part and rows.nbytes > PART_BYTES:
            self._write_part(output, rows)
            return Envelope(DIRECT, self._task, self._task, output, rows.num_rows)
        return Envelope(DIRECT, self._task, self._task, output, 0, pack(rows))

    def _run(self, number: int, view: Stages, feed: Feed, accepted: pa.RecordBatch) -> None:
        place = (number, feed.name)
        if place not in self._operators:
            self._operators[place] = feed.route(self._tables)
        made = self._operators[place].transition(accepted)
        if view.stateful and made.num_rows:
            self._routed.setdefault(place, []).append(made)
        elif made.num_rows:
            self._keep(view.name, made)

    def _keep(self, output: str, rows: pa.RecordBatch) -> None:
        if rows.num_rows:
            self._direct.setdefault(output, []).append(rows)

    def _addressed(self, number: int, view: Stages, feed: Feed, *, done: bool) -> Iterator[Envelope]:
        """An envelope a bucket, with rows or as a mere tick."""
        source = feed.source.name
        seen = max(self._outcome.newest.get(source, START_OF_TIME), self._newest.get(source, START_OF_TIME))
        newest = END_OF_TIME if done else seen
        routed = self._routed.get((number, feed.name), [])
        rows = join(routed, routed[0].schema) if routed else None
        parts = self._spread(feed, rows, live_buckets(view, self._bucket_count)) if rows else {}
        if rows and not feed.aggregate:
            loads = {str(bucket): part.num_rows for bucket, part in parts.items()}
            hot = hot_keys(rows, feed.keys)
            self._outcome = self._outcome.then(Outcome(loads={view.name: loads}, hot_keys={view.name: hot}))
        for bucket in live_buckets(view, self._bucket_count):
            blob = pack(parts[bucket]) if bucket in parts else None
            yield Envelope(number, bucket, self._task, feed.name, newest, blob)

    def _spread(self, feed: Feed, rows: pa.RecordBatch, live: range) -> dict[int, pa.RecordBatch]:
        if len(live) == 1:
            return {0: rows}
        places = buckets([rows.column(key) for key in feed.keys], rows.num_rows, len(live))
        chosen = {bucket: np.flatnonzero(places == bucket) for bucket in live}
        return {bucket: rows.take(pa.array(found)) for bucket, found in chosen.items() if found.size}
