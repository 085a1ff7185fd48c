"""Run a pipeline in this process."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from uuid import uuid4

import pyarrow as pa

from skerry.build.cut import CutView
from skerry.catalog import Source
from skerry.errors import OptionError
from skerry.fjord.begin_views import Beginning, begin_with_history, begin_with_tables
from skerry.fjord.checkpoint import Checkpoint
from skerry.fjord.flow import Flow, RunningView
from skerry.fjord.other_process import OtherProcess
from skerry.fjord.remote_flow import RemoteFlow, can_move
from skerry.fjord.saved_state import Progress
from skerry.fjord.scheduler import SCHEDULERS
from skerry.fjord.step_log import PlannedStep
from skerry.history.recording import Recording
from skerry.model.batch import join
from skerry.model.functions import list_functions
from skerry.model.private_folder import make_private_folder, remove_private_folder
from skerry.model.sealed_folder import SealedFolder
from skerry.model.time import END_OF_TIME, START_OF_TIME, Micros
from skerry.pipeline.backfill import check_backfill, list_backfills
from skerry.pipeline.intake import Intake
from skerry.pipeline.outcome import Outcome
from skerry.pipeline.pipeline import Pipeline, Reader, Receivers
from skerry.pipeline.precompile import name_all_kernels, precompile
from skerry.pipeline.runtime import RunOptions, never, raise_or_stop
from skerry.pipeline.watermark import find_held_back, pass_idle
from skerry.replay.pace import count_lags
from skerry.replay.replay import Position, Replay
from skerry.replay.share import InputShare
from skerry.sinks.sink import Sink
from skerry.sources.source import Connector
from skerry.sources.tables import Tables
from skerry.subscriptions.counters import COUNTS, add_counts
from skerry.subscriptions.versions import RegistryFolder, registry_at

__all__ = ["Answers", "FjordRuntime"]

_PATIENCE_SECONDS = 0.05
"""How long to wait for a live source that has nothing new."""
_FEW_READINGS, _LONGEST_REST_SECONDS = 1_000, 0.1
"""After a step with so few readings of live sources, the threads that receive get as much time as it took, at most."""

Answers = dict[str, pa.RecordBatch]
"""Rows by output."""
Write = Callable[[str, int, pa.RecordBatch], None]


def _write_nothing(output: str, number: int, rows: pa.RecordBatch) -> None:
    """Leave the rows to who asks for the steps."""


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
        self._recording: Recording | None = None
        self._processes: list[OtherProcess] = []
        if options.checkpoint:
            self._checkpoint = Checkpoint(options.checkpoint, options.script, pipeline.step_rows)
        try:
            self._prepare(pipeline, options)
        except BaseException:
            self._leave()
            raise

    def _prepare(self, pipeline: Pipeline, options: RunOptions) -> None:
        checkpoint = self._checkpoint
        self._position: Position | None = checkpoint.progress.position if checkpoint else None
        self._run_id = checkpoint.run if checkpoint else uuid4().hex
        self._views, self._version = options.views, self._position["views"] if self._position else 0
        register = partial(self._register, options) if options.register else None
        if self._views:
            kept = checkpoint.part("views") if checkpoint else None
            seen = checkpoint.newest_views if checkpoint and checkpoint.steps else None
            self._pipeline = self._views.start(kept, self._version, pipeline, self._fit, register, seen=seen)
        else:
            streams = [source for source in pipeline.own_sources if not source.is_table]
            connectors = tuple(map(self._fit, pipeline.connectors))
            self._pipeline = replace(
                pipeline, connectors=connectors, registry=register(streams) if register else pipeline.registry
            )
        if options.record:
            begun = checkpoint.progress.step if checkpoint else 0
            self._recording = options.record(self._run_id, begun, checkpoint is not None)
            self._pipeline = replace(self._pipeline, history=self._recording.writer)
            if self._views:
                self._views.record_with(self._recording.writer)
        pipeline = self._pipeline
        for view in pipeline.views if options.backfill and not self._position else ():
            check_backfill(view.view, pipeline)
        self._tables = Tables(pipeline.tables, pipeline.base, options.catalog)
        self._versions: Mapping[str, str] = self._tables.versions()
        self._open_processes(options.processes, pipeline.views)
        self._rows_of_tables = self._contents()
        self._flows: dict[int, RunningView] = {}
        self._beginners: set[int] = set()
        self._takes_history, self._is_worth_saving = options.backfill, False
        self._scheduler = SCHEDULERS[options.scheduler or _choose_scheduler(pipeline.views)]()
        self._newest: dict[str, Micros] = {}
        self._set_up(pipeline)
        self._counters = pipeline.registry.counters(self._run_id) if pipeline.registry else None
        self._held_back: dict[str, list[str]] = {}
        self._total = Outcome()
        if checkpoint:
            self._restore(checkpoint)

    def _fit(self, connector: Connector) -> Connector:
        """A source as a checkpoint counts its units, which keeps what it receives where that is found again."""
        if self._checkpoint:
            connector = connector.divide(self._checkpoint.unit_rows)
        if connector.live:
            folder = self._find_folder("spool").path / connector.definition.name
            connector = connector.spool_in(folder, is_kept=self._checkpoint is not None)
        return connector

    def _register(self, options: RunOptions, streams: Sequence[Source]) -> RegistryFolder:
        assert options.register
        has_begun = self._checkpoint is not None and self._checkpoint.steps > 0
        return options.register(self._find_folder("registry"), streams, has_begun)

    def _set_up(self, pipeline: Pipeline) -> None:
        """Go on with the views of a pipeline: those that are at work already stay at it."""
        contents = self._rows_of_tables
        flows: dict[int, RunningView] = {}
        for number, view in pipeline.views_by_number.items():
            flow = self._flows.get(number)
            if flow is None:
                self._beginners.add(number)
            if flow is None or (flow.view is not view and not view.stateful):
                flow = self._make_flow(view, contents)
            elif flow.view is not view:
                flow.replace_view(view, contents)
            flows[number] = flow
        before, now = set(self._flows.values()), set(flows.values())
        for flow in before - now:
            self._scheduler.remove(flow)
        for flow in [flow for flow in flows.values() if flow not in before]:
            self._scheduler.add(flow, flow.view.priority)
        self._pipeline, self._flows = pipeline, flows
        self._beginners &= flows.keys()
        self._newest = dict.fromkeys(pipeline.connectors_by_source, START_OF_TIME) | self._newest

    def _make_flow(self, view: CutView, tables: Mapping[str, pa.RecordBatch]) -> RunningView:
        process = self._places.get(view.name)
        if process is None:
            return Flow(view, tables)
        number = next(number for number, each in self._pipeline.views_by_number.items() if each is view)
        return RemoteFlow(number, view, tables, process)

    def _open_processes(self, count: int, views: Sequence[CutView]) -> None:
        """Spread the states of views that can move over so many processes, of which this is one."""
        if count > 1 and (functions := list_functions()):
            names = ", ".join(function.name for function in functions)
            raise OptionError(f"functions in Python are in this process alone ({names}); leave processes out")
        movable = [view.name for view in views if can_move(view)] if count > 1 else []
        folder = self._find_private_folder() / "queues" if movable else Path()
        saved = self._checkpoint.read_saved if self._checkpoint else None
        for number in range(min(count - 1, len(movable))):
            self._processes.append(OtherProcess(folder / str(number), saved))
        self._places = {name: self._processes[place % len(self._processes)] for place, name in enumerate(movable)}

    def _find_private_folder(self) -> Path:
        """A folder that is removed at the end."""
        if self._folder is None:
            self._folder = make_private_folder()
        return self._folder

    def _find_folder(self, name: str) -> SealedFolder:
        """Where something is kept: in the checkpoint, or in a folder that is removed at the end."""
        if self._checkpoint:
            return self._checkpoint.part(name)
        return SealedFolder(self._find_private_folder() / name)

    def _restore(self, checkpoint: Checkpoint) -> None:
        """Take up what was saved last."""
        progress = checkpoint.progress
        if self._position:
            self._beginners.clear()
        checkpoint.keep_tables(self._tables)
        self._total = progress.total.start_again()
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
        """Let go of processes and folders."""
        for process in self._processes:
            process.close()
        if self._folder:
            remove_private_folder(self._folder)
        if self._checkpoint:
            self._checkpoint.release()
        if self._recording:
            self._recording.release()

    def _run(self, stopped: Callable[[], bool], watch: Callable[[Outcome], None] | None) -> Outcome:
        self._open_sink()
        for outcome, _ in self.steps(stopped, self._sink.write):
            self._total = self._total.then(outcome)
            self._save(due=self._checkpoint is not None and (self._is_worth_saving or self._checkpoint.is_due()))
            if watch and self._position:
                share = self._share.at(self._position, self._total.read_by_source)
                watch(replace(self._total, share=share))
        self._save(due=True)
        self._sink.close()
        if self._recording:
            self._recording.close()
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
        if self._recording:
            self._recording.settle()
        clocks = {number: clock for number, flow in self._flows.items() if (clock := flow.save_clock())}
        progress = Progress(self._position, self._total, self._newest, self._versions, clocks)
        checkpoint.save(progress, {number: self._flows[number].take_changes() for number in clocks})
        self._is_worth_saving = False
        if self._recording:
            self._recording.note_recorded(step)
        for process in self._processes:
            process.note_saved()

    def steps(
        self, stopped: Callable[[], bool] = never, write: Write = _write_nothing
    ) -> Iterator[tuple[Outcome, Answers]]:
        """Work step by step; give what each came to, and its rows by output.

        ``write`` takes each view's rows of a step as soon as the view is done with it: output, number of the step,
        rows.
        """
        self._precompile()
        replay = self._pipeline.plan_steps(self._views)
        self._share = InputShare(replay.connectors.values(), replay.lanes)
        before = self._position or replay.start()
        with self._pipeline.receive(self._watch_sensors) as receivers:
            if self._views:
                self._views.receive(receivers.add)
            for planned in self._plan(replay, before, raise_or_stop(receivers.check, stopped)):
                began = time.monotonic()
                self._look_at_tables(planned)
                changed = self._look_at_views(planned, receivers)
                worked = self._step(replay, before, planned.position, write)
                before = self._position = planned.position
                yield worked[0].then(changed), worked[1]
                self._rest(worked[0], time.monotonic() - began)
                if done := self._checkpoint.progress.position if self._checkpoint else before:
                    replay.forget(done)
                    if self._views:
                        self._views.forget(done["views"])

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
            if self._views:
                self._tables.add(self._views.pipeline(following["views"]).tables)
            yield checkpoint.log(following) if checkpoint else PlannedStep(following, self._tables.versions())
            position = following

    def _step(self, replay: Replay, position: Position, following: Position, write: Write) -> tuple[Outcome, Answers]:
        """Read what lies between two positions, and let all views work on it."""
        for flow in self._flows.values():
            if flow.work:
                flow.work.take_in(following["shares"].get(flow.view.name, 1.0))
        beginning = self._begin_views(replay, position, following["step"] - 1)
        passed = pass_idle(self._pipeline.sources, self._newest, position["until"])
        intake = Intake(self._pipeline, passed, self._hand_on)
        for output, letters in beginning.dead_letters:
            intake.keep(output, letters)
        intake.register(following["version"])
        for split in replay.splits(position, following):
            intake.read_split(split)
        self._newest = _later(self._newest, intake.outcome.newest)
        self._newest |= dict.fromkeys(following["ended"], END_OF_TIME)
        self._advance(_later(passed, self._newest), intake.heard, done=following["done"])
        counts = intake.outputs.pop(COUNTS, [])
        if self._counters:
            self._counters.note(following["step"], add_counts(counts) if counts else None)
        answers: Answers = {}
        for made, found in self._collect(intake):
            for output, rows in self._pipeline.with_copies(made, found):
                write(output, following["step"] - 1, rows)
                answers[output] = rows
        if self._recording:
            self._recording.add(following["step"] - 1, intake.accepted)
        paced = Outcome(batches=1, lag_us=following["lag"], figures=count_lags(following["blameless"]))
        worked = intake.outcome.then(beginning.outcome).then(self._account(answers)).then(paced)
        return worked.then(Outcome.of_functions()), answers

    def _begin_views(self, replay: Replay, position: Position, batch: int) -> Beginning:
        """Let views that see their first step take in what was before it."""
        numbers, self._beginners = self._beginners, set()
        if not numbers:
            return Beginning()
        if position["step"]:
            begin_with_tables(self._flows, numbers, self._pipeline, replay, position)
        if not self._takes_history or not list_backfills(self._pipeline, numbers):
            return Beginning()
        if self._recording:
            self._recording.flush()
        begun = position["lanes"] if position["step"] else ()
        found = begin_with_history(self._flows, numbers, self._pipeline, batch, self._newest, begun)
        self._newest = _later(self._newest, found.newest)
        self._is_worth_saving = True  # it is dearer than a step, and would be done again
        return found

    def _hand_on(self, readers: Sequence[Reader], accepted: pa.RecordBatch) -> None:
        for reader in readers:
            flow = self._flows[reader.number]
            if flow.is_full:
                self._scheduler.run(lambda flow=flow: not flow.is_full)  # type: ignore[misc]
            flow.put(reader.feed, accepted)

    def _advance(self, newest: Mapping[str, Micros], heard: Mapping[str, Micros], *, done: bool) -> None:
        self._held_back = {} if done else find_held_back(self._pipeline.views, newest)
        for flow in self._flows.values():
            flow.advance(dict.fromkeys(newest, END_OF_TIME) if done else newest, heard)

    def _collect(self, intake: Intake) -> Iterator[tuple[str, pa.RecordBatch]]:
        """The rows of a step by output, those of each view as soon as it is done."""
        schemas = self._pipeline.outputs()
        for flow in self._finish():
            for output, rows in flow.take_answers():
                intake.keep(output, rows)
            yield from _take_outputs(intake, schemas)
        yield from _take_outputs(intake, schemas)

    def _finish(self) -> Iterator[RunningView]:
        """Let all views work to the end of a step; give each as soon as it is done."""
        unfinished = dict.fromkeys(self._flows.values())
        for flow in self._scheduler.turns():
            if flow in unfinished and flow.is_idle:
                del unfinished[flow]
                yield flow
        yield from unfinished

    def _account(self, answers: Answers) -> Outcome:
        """What the views came to in a step."""
        at_work = [flow.work for flow in self._flows.values() if flow.work]
        failures = {name: reason for work in at_work for name, reason in work.failures.items()}
        return Outcome(
            answers={output: rows.num_rows for output, rows in answers.items()},
            failures=self._pipeline.copy_failures(failures),
            figures={work.view.name: grown for work in at_work if (grown := work.take_figures())},
        )

    def _precompile(self) -> None:
        """Compile what is needed before the clock of a live source starts, if a view may not lag."""
        if self._pipeline.most_lags:
            precompile(name_all_kernels(self._pipeline, subscribed=self._pipeline.registry is not None))

    def _contents(self) -> dict[str, pa.RecordBatch]:
        return {name: self._tables.rows(name) for name in self._versions}

    def _look_at_views(self, planned: PlannedStep, receivers: Receivers) -> Outcome:
        """A step sees one version of the views. Say which of them come and go with it."""
        version, step = planned.position["views"], planned.number
        if self._views is None or version == self._version:
            return Outcome()
        pipeline = self._views.pipeline(version)
        receivers.add(pipeline.connectors)
        self._sink.begin_outputs(pipeline.list_new_outputs(self._pipeline), step - 1)
        self._set_up(pipeline)
        changes = self._views.sum_up(self._version, version, step - 1)
        self._views.note_batch(self._run_id, step - 1, changes)
        self._version = version
        return changes

    def _look_at_tables(self, planned: PlannedStep) -> None:
        """A step sees one version of each table."""
        if planned.tables != self._versions:
            self._versions = planned.tables
            kept = self._checkpoint.read_tables(planned.tables) if self._checkpoint else None
            self._rows_of_tables = self._contents() if kept is None else kept
            for flow in self._flows.values():
                flow.see(self._rows_of_tables)


def _later(before: Mapping[str, Micros], now: Mapping[str, Micros]) -> dict[str, Micros]:
    """The later moment of each source."""
    return {source: max(moment, now.get(source, moment)) for source, moment in before.items()}


def _take_outputs(intake: Intake, schemas: Mapping[str, pa.Schema]) -> Iterator[tuple[str, pa.RecordBatch]]:
    """What an intake has kept for outputs so far, each once."""
    for output, batches in intake.outputs.items():
        yield output, join(batches, schemas.get(output, batches[0].schema))
    intake.outputs.clear()


def _choose_scheduler(views: Sequence[CutView]) -> str:
    """Where a view says how much it matters, that counts."""
    return "frequencies" if any(view.priority > 1 for view in views) else "round-robin"
