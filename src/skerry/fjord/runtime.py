"""Run a pipeline in this process."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pyarrow as pa

from skerry.build.cut import CutView
from skerry.fjord.checkpoint import Checkpoint
from skerry.fjord.flow import Flow, RunningView
from skerry.fjord.saved_state import Progress
from skerry.fjord.scheduler import RoundRobin
from skerry.fjord.step_log import PlannedStep
from skerry.model.batch import join
from skerry.model.private_folder import make_private_folder, remove_private_folder
from skerry.model.sealed_folder import SealedFolder
from skerry.model.time import END_OF_TIME, START_OF_TIME, Micros
from skerry.pipeline.intake import Intake
from skerry.pipeline.outcome import Outcome
from skerry.pipeline.pipeline import Pipeline, Reader
from skerry.pipeline.precompile import name_all_kernels, precompile
from skerry.pipeline.runtime import RunOptions, never, raise_or_stop
from skerry.pipeline.watermark import find_held_back, pass_idle
from skerry.replay.pace import count_lags
from skerry.replay.replay import Position, Replay
from skerry.sinks.sink import Sink
from skerry.sources.tables import Tables
from skerry.subscriptions.counters import COUNTS, add_counts
from skerry.subscriptions.versions import registry_at

__all__ = ["Answers", "FjordRuntime"]

_PATIENCE_SECONDS = 0.05
"""How long to wait for a live source that has nothing new."""
_FEW_READINGS, _LONGEST_REST_SECONDS = 1_000, 0.1
"""After a step with so few readings of live sources, the threads that receive get as much time as it took, at most."""

Answers = dict[str, pa.RecordBatch]
"""Rows by output."""


class FjordRuntime:
    """Reads step by step, lets operators work, hands answers to the sink a step at a time.

    With a checkpoint, each step is logged before it begins, and state is saved now and then. A run that goes on takes
    both up (``fjord.checkpoint``).
    """

    def __init__(self, pipeline: Pipeline, sink: Sink, options: RunOptions | None = None) -> None:
        options = options or RunOptions()
        self._sink, self._watch_sensors = sink, options.watch_sensors
        self._folder: Path | None = None
        self._checkpoint: Checkpoint | None = None
        if options.checkpoint:
            self._checkpoint = Checkpoint(options.checkpoint, options.script, pipeline.step_rows)
        try:
            self._prepare(pipeline, options)
        except BaseException:
            self._leave()
            raise

    def _prepare(self, pipeline: Pipeline, options: RunOptions) -> None:
        checkpoint = self._checkpoint
        if checkpoint:
            pipeline = pipeline.divide(checkpoint.unit_rows)
        if pipeline.live:
            pipeline = pipeline.spool_in(self._find_folder("spool").path)
        if options.register:
            registry = options.register(self._find_folder("registry"), checkpoint is not None and checkpoint.steps > 0)
            pipeline = replace(pipeline, registry=registry)
        self._pipeline = pipeline
        self._tables = Tables(pipeline.tables, pipeline.base, options.catalog)
        self._versions: Mapping[str, str] = self._tables.versions()
        self._flows = [self._make_flow(view, self._contents()) for view in pipeline.views]
        self._scheduler = RoundRobin([module for flow in self._flows for module in flow.modules])
        self._newest: dict[str, Micros] = dict.fromkeys(pipeline.connectors_by_source, START_OF_TIME)
        run = checkpoint.run if checkpoint else uuid4().hex
        self._counters = pipeline.registry.counters(run) if pipeline.registry else None
        self._held_back: dict[str, list[str]] = {}
        self._total = Outcome()
        self._position: Position | None = None
        if checkpoint:
            self._restore(checkpoint)

    def _make_flow(self, view: CutView, tables: Mapping[str, pa.RecordBatch]) -> RunningView:
        return Flow(view, tables)

    def _find_folder(self, name: str) -> SealedFolder:
        """Where something is kept: in the checkpoint, or in a folder that is removed at the end."""
        if self._checkpoint:
            return self._checkpoint.part(name)
        if self._folder is None:
            self._folder = make_private_folder()
        return SealedFolder(self._folder / name)

    def _restore(self, checkpoint: Checkpoint) -> None:
        """Take up what was saved last."""
        progress = checkpoint.progress
        checkpoint.keep_tables(self._tables)
        self._position, self._total = progress.position, progress.total.start_again()
        self._newest |= progress.newest
        for number, clock in progress.clocks.items():
            self._flows[number].restore(clock, checkpoint.pages.get(number, {}))
        checkpoint.pages.clear()
        if self._position and not self._position["done"]:
            self._held_back = find_held_back(self._pipeline.views, self._newest)
        if self._position and self._pipeline.registry:
            registry_at(self._pipeline.registry, self._position["version"])

    def run(self, *, stopped: Callable[[], bool] = never, watch: Callable[[Outcome], None] | None = None) -> Outcome:
        """Go on until the input is used up, or until told to stop; report after each step."""
        try:
            return self._run(stopped, watch)
        finally:
            self._leave()

    def _leave(self) -> None:
        """Let go of folders."""
        if self._folder:
            remove_private_folder(self._folder)
        if self._checkpoint:
            self._checkpoint.release()

    def _run(self, stopped: Callable[[], bool], watch: Callable[[Outcome], None] | None) -> Outcome:
        self._open_sink()
        for outcome, answers in self.steps(stopped):
            for output, rows in answers.items():
                self._sink.write(output, self._step_number() - 1, rows)
            self._total = self._total.then(outcome)
            self._save(due=self._checkpoint is not None and self._checkpoint.is_due())
            if watch:
                watch(self._total)
        self._save(due=True)
        self._sink.close()
        if self._counters:
            self._counters.write()
        return replace(self._total, held_back=self._held_back)

    def _open_sink(self) -> None:
        outputs, checkpoint = self._pipeline.outputs(), self._checkpoint
        if checkpoint:
            self._sink.claim(checkpoint.run, checkpoint.steps)
            checkpoint.check_answers(self._sink, outputs)
        self._sink.open(outputs, resume=checkpoint is not None and checkpoint.steps > 0)

    def _step_number(self) -> int:
        return int(self._position["step"]) if self._position else 0

    def _save(self, *, due: bool) -> None:
        """Save state after a step, if that is due and has not been done.

        The steps that an earlier process has begun are all done again first: until then, the log of them is needed.
        """
        checkpoint, step = self._checkpoint, self._step_number()
        if not checkpoint or not due or step < checkpoint.steps or step == checkpoint.progress.step:
            return
        self._sink.settle()  # what is saved as done must be on the disk before
        clocks = {number: clock for number, flow in enumerate(self._flows) if (clock := flow.save_clock())}
        progress = Progress(self._position, self._total, self._newest, self._versions, clocks)
        checkpoint.save(progress, {number: self._flows[number].take_changes() for number in clocks})

    def steps(self, stopped: Callable[[], bool] = never) -> Iterator[tuple[Outcome, Answers]]:
        """Work step by step; give what each came to, and its rows by output."""
        self._precompile()
        replay = self._pipeline.plan_steps()
        before = self._position or replay.start()
        with self._pipeline.receive(self._watch_sensors) as check:
            for planned in self._plan(replay, before, raise_or_stop(check, stopped)):
                began = time.monotonic()
                self._look_at_tables(planned)
                worked = self._step(replay, before, planned.position)
                before = self._position = planned.position
                yield worked
                self._rest(worked[0], time.monotonic() - began)
                if done := self._checkpoint.progress.position if self._checkpoint else before:
                    replay.forget(done)

    def _rest(self, done: Outcome, took_seconds: float) -> None:
        """Let others work: where little comes, and no view may not lag, steps need not follow without a pause."""
        is_idle = sum(tally.read for tally in done.tallies.values()) < _FEW_READINGS
        if self._pipeline.live and not self._pipeline.most_lags and is_idle:
            time.sleep(min(took_seconds, _LONGEST_REST_SECONDS))

    def _plan(self, replay: Replay, position: Position, stopped: Callable[[], bool]) -> Iterator[PlannedStep]:
        """The steps that a run which went before has planned, and then others; each is logged before it is given."""
        checkpoint = self._checkpoint
        for planned in checkpoint.planned if checkpoint else ():
            if stopped():
                return
            yield planned
            position = planned.position
        while not position["done"] and not stopped():
            following = replay.next(position)
            if following == position:
                time.sleep(_PATIENCE_SECONDS)
                continue
            yield checkpoint.log(following) if checkpoint else PlannedStep(following, self._tables.versions())
            position = following

    def _step(self, replay: Replay, position: Position, following: Position) -> tuple[Outcome, Answers]:
        """Read what lies between two positions, and let all views work on it."""
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
        self._advance(_later(passed, self._newest), intake.heard, done=following["done"])
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

    def _advance(self, newest: Mapping[str, Micros], heard: Mapping[str, Micros], *, done: bool) -> None:
        self._held_back = {} if done else find_held_back(self._pipeline.views, newest)
        for flow in self._flows:
            flow.advance(dict.fromkeys(newest, END_OF_TIME) if done else newest, heard)
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
            precompile(name_all_kernels(self._pipeline, subscribed=self._pipeline.registry is not None))

    def _contents(self) -> dict[str, pa.RecordBatch]:
        return {name: self._tables.rows(name) for name in self._versions}

    def _look_at_tables(self, planned: PlannedStep) -> None:
        """A step sees one version of each table."""
        if planned.tables != self._versions:
            self._versions = planned.tables
            contents = self._checkpoint.read_tables(planned.tables) if self._checkpoint else self._contents()
            for flow in self._flows:
                flow.see(contents)


def _later(before: Mapping[str, Micros], now: Mapping[str, Micros]) -> dict[str, Micros]:
    """The later moment of each source."""
    return {source: max(moment, now.get(source, moment)) for source, moment in before.items()}
