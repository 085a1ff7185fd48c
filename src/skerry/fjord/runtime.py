"""Run a pipeline in this process."""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from uuid import uuid4

import pyarrow as pa

from skerry.build.stages import Stages
from skerry.catalog import Source
from skerry.fjord.queue import Queue, Rows, Tick
from skerry.fjord.scheduler import Module, RoundRobin
from skerry.kernels.precompile import precompile
from skerry.model.batch import join
from skerry.model.time import END_OF_TIME, START_OF_TIME, Micros
from skerry.pipeline.gate import Gate, Tally, watermark
from skerry.pipeline.pipeline import Outcome, Pipeline, dead_letters, never, since
from skerry.pipeline.precompile import calls_of, kinds_of
from skerry.replay.pace import lagging
from skerry.sinks.sink import Sink
from skerry.sources.source import Split
from skerry.sources.tables import Tables
from skerry.subscriptions.counters import COUNTS, added
from skerry.subscriptions.registry import Registry
from skerry.subscriptions.versions import registry_at

__all__ = ["FjordRun"]

_PATIENCE_SECONDS = 0.05
"""How long to wait for a live source that has nothing new."""


class _Flow:
    """One view: a queue in for each of its feeds, its operators, a queue out."""

    def __init__(self, view: Stages, tables: Mapping[str, pa.RecordBatch]) -> None:
        self.view = view
        self.outbox = Queue()
        self._figures: dict[str, int] = {}
        self._meeting = Queue() if view.stateful else self.outbox
        self._inboxes = [Queue() for _ in view.feeds]
        self.modules = [
            Module(feed.route(tables), inbox, self._meeting, place)
            for place, (feed, inbox) in enumerate(zip(view.feeds, self._inboxes, strict=True))
        ]
        if view.stateful:
            self.modules.append(Module(view.operate(), self._meeting, self.outbox))

    def put(self, feed: str, accepted: pa.RecordBatch) -> None:
        """Hand readings to one of the feeds."""
        self._inboxes[self.view.places[feed]].put(Rows(accepted))

    def see(self, tables: Mapping[str, pa.RecordBatch]) -> None:
        """Go on with other versions of the tables."""
        for module, feed in zip(self.modules, self.view.feeds, strict=False):
            if feed.tables:
                module.operator = feed.route(tables)

    def tick(self, newest: Mapping[str, Micros]) -> None:
        """Tell the operator that keeps state how far all streams have come; the others need no clock."""
        if self.view.stateful:
            marks = [watermark(feed.source, newest[feed.source.name]) for feed in self.view.clocks]
            self._meeting.put(Tick(min(marks)))

    def take_in(self, share: float) -> None:
        """Let the operator that keeps state know how much of what comes it can have."""
        if self.view.shedding:
            self.modules[-1].operator.take_in(share)

    def losses(self) -> tuple[str, pa.RecordBatch] | None:
        """Where it tells what it gave up, and what that is."""
        shedding = self.view.shedding
        lost = self.modules[-1].operator.losses() if shedding else None
        return (shedding.loss_to, lost) if shedding and shedding.loss_to and lost else None

    def grown(self) -> dict[str, int]:
        """What its operators have counted since they were asked last."""
        if not self.view.stateful:
            return {}
        now = dict(self.modules[-1].operator.figures())
        grown, self._figures = since(self._figures, now), now
        return grown

    @property
    def failure(self) -> str | None:
        """Why it had to stop, if it had to."""
        return next((module.failure for module in self.modules if module.failure), None)

    def drain(self) -> list[pa.RecordBatch]:
        """Take the answers that have come out."""
        messages = iter(self.outbox.get, None)
        return [message.batch for message in messages if isinstance(message, Rows)]


class FjordRun:
    """Reads step by step, lets operators work, hands answers to the sink a step at a time."""

    def __init__(self, pipeline: Pipeline, sink: Sink) -> None:
        self._pipeline, self._sink = pipeline, sink
        self._connectors = {connector.definition.name: connector for connector in pipeline.connectors}
        self._tables = Tables(pipeline.tables, pipeline.base)
        self._versions: dict[str, str] = self._tables.versions()
        self._flows = [_Flow(view, self._contents()) for view in pipeline.views]
        self._scheduler = RoundRobin([module for flow in self._flows for module in flow.modules])
        self._newest: dict[str, Micros] = dict.fromkeys(self._connectors, START_OF_TIME)
        self._pending: dict[str, list[pa.RecordBatch]] = {}
        self._registry: Registry | None = None
        self._counters = pipeline.registry.counters(uuid4().hex) if pipeline.registry else None

    def run(self, *, stopped: Callable[[], bool] = never, watch: Callable[[Outcome], None] | None = None) -> Outcome:
        """Go on until the input is used up, or until told to stop; report after each step."""
        self._sink.open(self._pipeline.outputs(), resume=False)
        total = Outcome()
        for number, (outcome, answers) in enumerate(self.steps(stopped)):
            for output, rows in answers.items():
                self._sink.write(output, number, rows)
            total = total.then(outcome)
            if watch:
                watch(total)
        self._sink.close()
        if self._counters:
            self._counters.write()
        return total

    def steps(self, stopped: Callable[[], bool] = never) -> Iterator[tuple[Outcome, dict[str, pa.RecordBatch]]]:
        """Work step by step; give what each came to, and its rows by output."""
        self._warm()
        replay = self._pipeline.replay()
        position = replay.start()
        while not position["done"] and not stopped():
            following = replay.next(position)
            if following == position:
                time.sleep(_PATIENCE_SECONDS)
                continue
            self._look_at_tables()
            outcome = Outcome(batches=1, lag_us=following["lag"], version=following["version"])
            if self._pipeline.registry:
                self._registry = registry_at(self._pipeline.registry, following["version"])
            for flow in self._flows:
                flow.take_in(following["shares"].get(flow.view.name, 1.0))
            for split in replay.splits(position, following):
                outcome = outcome.then(self._take(split))
            self._newest |= {name: max(self._newest[name], moment) for name, moment in outcome.newest.items()}
            self._tick(done=following["done"])
            position = following
            self._count(position["step"])
            answers = self._answers()
            counts = {output: rows.num_rows for output, rows in answers.items()}
            failures = {name: flow.failure for flow in self._flows if flow.failure for name in flow.view.outputs}
            figures = {flow.view.name: grown for flow in self._flows if (grown := flow.grown())}
            told = replace(outcome, answers=counts, failures=failures, figures=figures)
            yield told.then(Outcome(figures=lagging(following["blameless"]))), answers

    def _warm(self) -> None:
        """Compile what is needed before the clock of a live source starts, if a view may not lag."""
        if any(view.shedding and view.shedding.max_lag_us is not None for view in self._pipeline.views):
            precompile(kinds_of(self._pipeline))
            for call in calls_of(self._pipeline, subscribed=self._pipeline.registry is not None):
                call()

    def _contents(self) -> dict[str, pa.RecordBatch]:
        return {name: self._tables.rows(name) for name in self._versions}

    def _look_at_tables(self) -> None:
        """A step sees one version of each table."""
        versions = self._tables.versions()
        if versions != self._versions:
            self._versions = versions
            for flow in self._flows:
                flow.see(self._contents())

    def _take(self, split: Split) -> Outcome:
        """Read a split. All splits of a step pass the gate as of the steps before."""
        connector = self._connectors[split.source]
        gate = Gate(connector.definition, self._newest[split.source])
        tally, stamp = Tally(), self._pipeline.stamp(split)
        for decoded in connector.read(split):
            accepted, late = gate.admit(stamp.put_on(decoded.readings) if stamp else decoded.readings)
            tally += Tally(accepted.num_rows, late.num_rows, decoded.rejects.num_rows)
            self._feed(connector.definition, accepted)
            for output, rows in self._pipeline.matches(split.source, accepted, self._registry):
                self._keep(output, rows)
            self._keep(dead_letters(split.source), decoded.rejects)
            for output in self._pipeline.late_outputs(split.source):
                self._keep(output, late.select(connector.definition.schema.names))
        return Outcome({split.source: tally}, {split.source: split.reached(gate.newest)})

    def _feed(self, source: Source, accepted: pa.RecordBatch) -> None:
        for number, _, feed in self._pipeline.readers(source.name):
            self._flows[number].put(feed.name, accepted)
        self._scheduler.run()

    def _keep(self, output: str, rows: pa.RecordBatch) -> None:
        if rows.num_rows:
            self._pending.setdefault(output, []).append(rows)

    def _count(self, step: int) -> None:
        """Keep what the queries of the index have come to in a step."""
        counts = self._pending.pop(COUNTS, [])
        if self._counters:
            self._counters.note(step, added(counts) if counts else None)

    def _tick(self, *, done: bool) -> None:
        newest = dict.fromkeys(self._newest, END_OF_TIME) if done else self._newest
        for flow in self._flows:
            flow.tick(newest)
        self._scheduler.run()

    def _answers(self) -> dict[str, pa.RecordBatch]:
        """What has come out since the last step."""
        for flow in self._flows:
            for batch in flow.drain():
                for output, rows in flow.view.by_output(batch):
                    self._keep(output, rows)
            if lost := flow.losses():
                self._keep(*lost)
        schemas = self._pipeline.outputs()
        found = {
            output: join(batches, schemas.get(output, batches[0].schema)) for output, batches in self._pending.items()
        }
        self._pending = {}
        return found
