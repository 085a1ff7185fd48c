"""Run a pipeline in this process."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pyarrow as pa

from skerry.build.cut import CutView, Feed
from skerry.fjord.queue import Advance, Queue, Rows
from skerry.fjord.scheduler import Module, RoundRobin
from skerry.model.batch import join
from skerry.model.private_folder import make_private_folder, remove_private_folder
from skerry.model.sealed_folder import SealedFolder
from skerry.model.time import END_OF_TIME, START_OF_TIME, Micros
from skerry.pipeline.intake import Intake
from skerry.pipeline.outcome import Outcome
from skerry.pipeline.pipeline import Pipeline, Reader
from skerry.pipeline.precompile import list_precompiled
from skerry.pipeline.runtime import RunOptions, never
from skerry.pipeline.view_at_work import ViewAtWork
from skerry.pipeline.watermark import find_held_back, pass_idle
from skerry.replay.pace import count_lags
from skerry.replay.replay import Position, Replay
from skerry.sinks.sink import Sink
from skerry.sources.tables import Tables
from skerry.subscriptions.counters import COUNTS, add_counts

__all__ = ["FjordRuntime"]

_PATIENCE_SECONDS = 0.05
"""How long to wait for a live source that has nothing new."""

Answers = dict[str, pa.RecordBatch]
"""Rows by output."""


class _Flow:
    """One view: a queue in for each of its feeds, its operators, a queue out."""

    def __init__(self, view: CutView, tables: Mapping[str, pa.RecordBatch]) -> None:
        self.view = view
        self.work = ViewAtWork(view) if view.stateful else None
        self._outbox = Queue()
        self._meeting = Queue() if self.work else self._outbox
        self._inboxes = [Queue() for _ in view.feeds]
        self._routes = [
            Module(feed.build_route(tables), inbox, self._meeting, number)
            for number, (feed, inbox) in enumerate(zip(view.feeds, self._inboxes, strict=True))
        ]
        self.modules = [*self._routes, *([Module(self.work, self._meeting, self._outbox)] if self.work else [])]

    def put(self, feed: Feed, accepted: pa.RecordBatch) -> None:
        """Hand readings to one of the feeds."""
        self._inboxes[self.view.stream_numbers[feed.name]].put(Rows(accepted))

    def see(self, tables: Mapping[str, pa.RecordBatch]) -> None:
        """Go on with other versions of the tables."""
        for module, feed in zip(self._routes, self.view.feeds, strict=True):
            if feed.tables:
                module.operator = feed.build_route(tables)

    def advance(self, newest: Mapping[str, Micros]) -> None:
        """Let the part that keeps state know how far all streams have come; the others need no clock."""
        if self.work:
            for source, moment in newest.items():
                self.work.note_newest(source, moment)
            self._meeting.put(Advance(self.work.watermark))

    def take_answers(self) -> Iterator[tuple[str, pa.RecordBatch]]:
        """What has come out, and what was lost, by output."""
        for message in iter(self._outbox.get, None):
            if isinstance(message, Rows):
                yield from self.view.by_output(message.batch)
        if self.work and (lost := self.work.take_losses()):
            yield lost


class FjordRuntime:
    """Reads step by step, lets operators work, hands answers to the sink a step at a time."""

    def __init__(self, pipeline: Pipeline, sink: Sink, options: RunOptions | None = None) -> None:
        self._folder: Path | None = None
        if options and options.register:
            self._folder = make_private_folder()
            pipeline = replace(pipeline, registry=options.register(SealedFolder(self._folder), False))
        self._pipeline, self._sink = pipeline, sink
        self._tables = Tables(pipeline.tables, pipeline.base, options.catalog if options else None)
        self._versions: dict[str, str] = self._tables.versions()
        self._flows = [_Flow(view, self._contents()) for view in pipeline.views]
        self._scheduler = RoundRobin([module for flow in self._flows for module in flow.modules])
        self._newest: dict[str, Micros] = dict.fromkeys(pipeline.connectors_by_source, START_OF_TIME)
        self._counters = pipeline.registry.counters(uuid4().hex) if pipeline.registry else None
        self._held_back: dict[str, list[str]] = {}

    def run(self, *, stopped: Callable[[], bool] = never, watch: Callable[[Outcome], None] | None = None) -> Outcome:
        """Go on until the input is used up, or until told to stop; report after each step."""
        try:
            return self._run(stopped, watch)
        finally:
            if self._folder:
                remove_private_folder(self._folder)

    def _run(self, stopped: Callable[[], bool], watch: Callable[[Outcome], None] | None) -> Outcome:
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
        return replace(total, held_back=self._held_back)

    def steps(self, stopped: Callable[[], bool] = never) -> Iterator[tuple[Outcome, Answers]]:
        """Work step by step; give what each came to, and its rows by output."""
        self._precompile()
        replay = self._pipeline.plan_steps()
        position = replay.start()
        while not position["done"] and not stopped():
            following = replay.next(position)
            if following == position:
                time.sleep(_PATIENCE_SECONDS)
                continue
            yield self._step(replay, position, following)
            position = following

    def _step(self, replay: Replay, position: Position, following: Position) -> tuple[Outcome, Answers]:
        """Read what lies between two positions, and let all views work on it."""
        self._look_at_tables()
        for flow in self._flows:
            if flow.work:
                flow.work.take_in(following["shares"].get(flow.view.name, 1.0))
        passed = pass_idle(self._pipeline.sources, self._newest, position["until"])
        intake = Intake(self._pipeline, passed, self._hand_on)
        intake.register(following["version"])
        for split in replay.splits(position, following):
            intake.read_split(split)
        self._newest = _later(self._newest, intake.outcome.newest)
        self._newest |= dict.fromkeys(following["ended"], END_OF_TIME)
        self._advance(_later(passed, self._newest), done=following["done"])
        counts = intake.outputs.pop(COUNTS, [])
        if self._counters:
            self._counters.note(following["step"], add_counts(counts) if counts else None)
        answers = self._collect(intake)
        paced = Outcome(batches=1, lag_us=following["lag"], figures=count_lags(following["blameless"]))
        return intake.outcome.then(self._account(answers)).then(paced), answers

    def _hand_on(self, readers: Sequence[Reader], accepted: pa.RecordBatch) -> None:
        for reader in readers:
            self._flows[reader.number].put(reader.feed, accepted)
        self._scheduler.run()

    def _advance(self, newest: Mapping[str, Micros], *, done: bool) -> None:
        self._held_back = {} if done else find_held_back(self._pipeline.views, newest)
        for flow in self._flows:
            flow.advance(dict.fromkeys(newest, END_OF_TIME) if done else newest)
        self._scheduler.run()

    def _collect(self, intake: Intake) -> Answers:
        """The rows of a step by output."""
        for flow in self._flows:
            for output, rows in flow.take_answers():
                intake.keep(output, rows)
        schemas = self._pipeline.outputs()
        return {
            output: join(batches, schemas.get(output, batches[0].schema)) for output, batches in intake.outputs.items()
        }

    def _account(self, answers: Answers) -> Outcome:
        """What the views came to in a step."""
        at_work = [flow.work for flow in self._flows if flow.work]
        return Outcome(
            answers={output: rows.num_rows for output, rows in answers.items()},
            failures={name: reason for work in at_work for name, reason in work.failures.items()},
            figures={work.view.name: grown for work in at_work if (grown := work.take_figures())},
        )

    def _precompile(self) -> None:
        """Compile what is needed before the clock of a live source starts, if a view may not lag."""
        if self._pipeline.most_lags:
            for compile_kernels in list_precompiled(self._pipeline, subscribed=self._pipeline.registry is not None):
                compile_kernels()

    def _contents(self) -> dict[str, pa.RecordBatch]:
        return {name: self._tables.rows(name) for name in self._versions}

    def _look_at_tables(self) -> None:
        """A step sees one version of each table."""
        versions = self._tables.versions()
        if versions != self._versions:
            self._versions = versions
            for flow in self._flows:
                flow.see(self._contents())


def _later(before: Mapping[str, Micros], now: Mapping[str, Micros]) -> dict[str, Micros]:
    """The later moment of each source."""
    return {source: max(moment, now.get(source, moment)) for source, moment in before.items()}
