"""What every runtime runs: connectors, views cut where they are shuffled, and the names of all outputs."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, Protocol

import pyarrow as pa

from skerry.build.cut import CutView, Feed
from skerry.catalog import Source
from skerry.errors import InputError
from skerry.history.writer import HistoryWriter
from skerry.model.batch import empty
from skerry.model.time import Micros
from skerry.pipeline.step_plan import StepPlan
from skerry.plan.sharing import FEWEST_INDEXED, Copy
from skerry.replay.replay import Replay, ViewSteps
from skerry.shedding.report import LOSSES
from skerry.sources.arrival import Stamp
from skerry.sources.source import REJECTS, Connector, Receiving, Split
from skerry.subscriptions.registry import SUBSCRIPTIONS, Registry
from skerry.subscriptions.selections import Selections
from skerry.subscriptions.versions import RegistryFolder

__all__ = ["Pipeline", "Reader", "Receivers", "ReceivingWatch", "dead_letter_output", "list_answered"]

_DEAD_LETTERS = "dead_letters"
_RESERVED = {_DEAD_LETTERS: "for rejected readings", SUBSCRIPTIONS: "for answers of subscriptions"}
"""What outputs are kept for, whatever else there is."""


def dead_letter_output(source: str) -> str:
    """The output that receives a source's rejected readings."""
    return f"{_DEAD_LETTERS}/{source}"


class ReceivingWatch(Protocol):
    """Who has to do with the sensors while a run goes on."""

    def begin(self, receiving: Mapping[str, Receiving]) -> None:
        """Readings are received from now on, by source."""

    def look(self) -> None:
        """Do what is due."""

    def end(self) -> None:
        """Nothing is received any more."""


class Receivers:
    """What goes on beside a run while readings are received: other sources may join."""

    def __init__(self, stack: ExitStack, watch: ReceivingWatch | None) -> None:
        self._stack, self._watch = stack, watch
        self._receiving: dict[str, Receiving] = {}
        if watch:
            stack.callback(watch.end)  # the last to be called: when nothing comes in any more

    def add(self, connectors: Iterable[Connector]) -> None:
        """Receive what is sent to these sources, where that has not begun."""
        new = {name: each for each in connectors if (name := each.definition.name) not in self._receiving}
        # A new one: another thread may be at the old one, to see whether something went wrong.
        self._receiving = self._receiving | {n: self._stack.enter_context(each.receive()) for n, each in new.items()}
        if self._watch and new:
            self._watch.begin(self._receiving)

    def check(self) -> None:
        """Raise what went wrong, and let the watch look: to be called now and then."""
        for each in self._receiving.values():
            each.check()
        if self._watch:
            self._watch.look()


class Reader(NamedTuple):
    """A feed that reads a source by itself, its view, and the view's number in the pipeline."""

    number: int
    view: CutView
    feed: Feed


@dataclass(frozen=True)
class Pipeline:
    """A set of standing queries and the sources they read. Immutable, picklable.

    What is looked up for every unit of readings (who reads a source, where its late readings go) is found once, and
    travels with the pipeline.
    """

    connectors: tuple[Connector, ...]
    views: tuple[CutView, ...]
    step_rows: int = 1_000_000
    foreign: tuple[Source, ...] = ()
    """Sources that the runtime itself reads."""
    tables: tuple[Source, ...] = ()
    """What streams are looked up in."""
    base: Path = Path()
    """Where relative paths start."""
    registry: RegistryFolder | None = None
    """Where the subscriptions to its streams are, if there can be any."""
    history: HistoryWriter | None = None
    """What keeps accepted readings, if they are kept."""
    indexed: bool = True
    """Whether views that only select are answered together, where they are many."""
    copies: tuple[Copy, ...] = ()
    """Views that are not run, since others give their answers."""
    numbers: tuple[int, ...] = ()
    """The numbers of the views, which stay theirs while others come and go; without any they are counted from 0."""

    def __post_init__(self) -> None:
        """An output has one writer: a view, its losses, or the late readings of one source.

        Outputs are folders, and on some file systems names that differ in case alone are one folder.
        """
        uses = dict(_RESERVED)
        for source in self.sources:
            _claim(
                uses, dead_letter_output(source.name), f"of {source.name!r}", f"source {source.name!r} cannot be called"
            )
        for view in self.views:
            for output in view.outputs:
                _claim(uses, output, f"a view itself ({output!r})", "a view cannot be called")
        for each in self.copies:
            _claim(uses, each.name, f"a view itself ({each.name!r})", "a view cannot be called")
        for view in self.views:
            lost = view.shedding.loss_to if view.shedding else None
            if lost:
                _claim(uses, lost, f"for the losses of {view.name!r}", f"view {view.name!r} tells its losses to")
            for output, name in _find_late_outputs(view).items():
                use, claimer = f"for late readings of {name!r}", f"view {view.name!r} sends late readings to"
                _claim(uses, output, use, claimer)

    @cached_property
    def views_by_number(self) -> dict[int, CutView]:
        """The views, by their numbers."""
        return dict(zip(self.numbers or range(len(self.views)), self.views, strict=True))

    @property
    def sources(self) -> tuple[Source, ...]:
        """All sources that are read."""
        return (*self.own_sources, *self.foreign)

    @property
    def own_sources(self) -> tuple[Source, ...]:
        """Those that Skerry reads by itself."""
        return tuple(connector.definition for connector in self.connectors)

    @cached_property
    def connectors_by_source(self) -> dict[str, Connector]:
        """The connectors by the name of their source."""
        return {connector.definition.name: connector for connector in self.connectors}

    @property
    def live(self) -> bool:
        """Whether some source has no end."""
        return any(connector.live for connector in self.connectors)

    @property
    def most_lags(self) -> dict[str, Micros]:
        """The views that give readings up when they lag, and by how much they may."""
        found = {view.name: view.shedding.max_lag_us for view in self.views if view.shedding}
        return {name: lag for name, lag in found.items() if lag is not None}

    def divide(self, unit_rows: int) -> "Pipeline":
        """The same pipeline, its sources in units of about so many readings at most."""
        return replace(self, connectors=tuple(connector.divide(unit_rows) for connector in self.connectors))

    def spool_in(self, folder: Path) -> "Pipeline":
        """The same pipeline. Sources that others send to keep what they receive in a folder, each in its own."""
        spooled = (connector.spool_in(folder / connector.definition.name) for connector in self.connectors)
        return replace(self, connectors=tuple(spooled))

    @contextmanager
    def receive(self, watch: "ReceivingWatch | None" = None) -> Iterator["Receivers"]:
        """Receive what is sent to the sources.

        ``watch`` is told who receives, by source, and then called as often as these are checked.
        """
        with ExitStack() as stack:
            receivers = Receivers(stack, watch)
            receivers.add(self.connectors)
            yield receivers

    @property
    def step_plan(self) -> StepPlan:
        """What the steps of a run are planned by."""
        return StepPlan(self.connectors, self.step_rows, self.most_lags, self.registry, bool(self.foreign))

    def plan_steps(self, views: ViewSteps | None = None) -> Replay:
        """What plans the steps of a run; ``views`` says which of them a step sees, if they come and go."""
        return replace(self.step_plan, views=views).begin()

    @cached_property
    def selections(self) -> dict[str, Selections]:
        """By source, the views that only select and are answered together, for they are many.

        Once asked for, they go with the pipeline wherever it is sent.
        """
        return {source: Selections.of(views) for source, views in self._selecting.items()}

    @cached_property
    def _selecting(self) -> dict[str, list[CutView]]:
        """By source, the views that only select, where they are many."""
        found: dict[str, list[CutView]] = {}
        for view in self.views:
            if self.indexed and view.only_selects:
                found.setdefault(view.feeds[0].source.name, []).append(view)
        return {source: views for source, views in found.items() if len(views) >= FEWEST_INDEXED}

    def keep_selections(self, before: "Pipeline") -> "Pipeline":
        """The same pipeline; what another made of views that only select is taken over where these are the same."""
        made = {source: views for source, views in before._selecting.items() if self._selecting.get(source) == views}
        kept = {source: before.selections[source] for source in made}
        others = {source: Selections.of(views) for source, views in self._selecting.items() if source not in kept}
        self.__dict__["selections"] = kept | others
        return self

    def prepare(self) -> "Pipeline":
        """The same pipeline, with all that is found once in it: before it travels to many tasks."""
        _ = (
            self._readers,
            self._copies,
            self._copied_schemas,
            self._late_outputs,
            self._nan_keys,
            self.connectors_by_source,
            self.views_by_number,
        )
        return self

    def readers(self, source: str) -> list[Reader]:
        """The feeds that read a source by themselves, with their views and the views' numbers."""
        return self._readers.get(source, [])

    @cached_property
    def _readers(self) -> dict[str, list[Reader]]:
        found: dict[str, list[Reader]] = {}
        for number, view in self.views_by_number.items():
            for feed in view.feeds:
                if view.name not in self.selections.get(feed.source.name, ()):
                    found.setdefault(feed.source.name, []).append(Reader(number, view, feed))
        return found

    def match(
        self, source: str, readings: pa.RecordBatch, registry: Registry | None
    ) -> Iterator[tuple[str, pa.RecordBatch]]:
        """What is answered by the query index, by output: views that only select, and subscriptions; and ``COUNTS``."""
        if together := self.selections.get(source):
            yield from together.answers(readings).items()
        if registry:
            yield from registry.matches(source, readings).items()

    def make_stamp(self, split: Split) -> Stamp | None:
        """What marks a split's readings with the order of their arrival, if some view needs that."""
        stamped = next((reader.feed.source for reader in self.readers(split.source) if reader.feed.stamped), None)
        source = stamped or (self.history.streams.get(split.source) if self.history else None)
        return Stamp(source.event_time, split.lane) if source else None

    def needs_stamps(self, source: str) -> bool:
        """Whether some view needs to know the order of arrival."""
        return any(reader.feed.stamped for reader in self.readers(source))

    def keeps(self, source: str) -> bool:
        """Whether a source's accepted readings are kept."""
        return self.history is not None and source in self.history.streams

    def nan_keys(self, source: str) -> list[str]:
        """The columns of a source that some join compares, and that may be NaN."""
        return self._nan_keys.get(source, [])

    @cached_property
    def _nan_keys(self) -> dict[str, list[str]]:
        found: dict[str, dict[str, None]] = {}
        for view in self.views:
            for feed in view.feeds:
                found.setdefault(feed.source.name, {}).update(dict.fromkeys(feed.nan_keys))
        return {source: list(keys) for source, keys in found.items()}

    def late_outputs(self, source: str) -> list[str]:
        """Where a source's late readings go, each output once."""
        return self._late_outputs.get(source, [])

    @cached_property
    def _late_outputs(self) -> dict[str, list[str]]:
        found: dict[str, set[str]] = {}
        for view in self.views:
            for output, source in _find_late_outputs(view).items():
                found.setdefault(source, set()).add(output)
        return {source: sorted(outputs) for source, outputs in found.items()}

    def list_copies(self, view: CutView) -> list[Copy]:
        """The copies of a view's answers, or of those of all views in it."""
        return [copy for output in view.outputs for copy in self.copies_of(output)]

    def list_answered(self, view: CutView) -> list[str]:
        """The views that a plan answers: its outputs, and the copies of them."""
        return list_answered(view, self.list_copies(view))

    def copies_of(self, output: str) -> Sequence[Copy]:
        """The views that have the answers of an output too."""
        return self._copies.get(output, ())

    @cached_property
    def _copies(self) -> dict[str, list[Copy]]:
        found: dict[str, list[Copy]] = {}
        for each in self.copies:
            found.setdefault(each.of, []).append(each)
        return found

    @cached_property
    def _copied_schemas(self) -> dict[str, pa.Schema]:
        known = {output: schema for view in self.views for output, schema in view.outputs.items()}
        return {each.name: each.rename(empty(known[each.of])).schema for each in self.copies}

    def with_copies(self, output: str, rows: pa.RecordBatch) -> Iterator[tuple[str, pa.RecordBatch]]:
        """The rows of an output, and the same for the views that have copies of it."""
        yield output, rows
        for each in self.copies_of(output):
            yield each.name, each.rename(rows)

    def copy_failures(self, failures: Mapping[str, str]) -> dict[str, str]:
        """Why outputs stopped, for those that have copies of theirs too."""
        copied = {each.name: reason for output, reason in failures.items() for each in self.copies_of(output)}
        return {**failures, **copied}

    def outputs(self) -> dict[str, pa.Schema]:
        """Every output and its columns."""
        found = {output: schema for view in self.views for output, schema in view.outputs.items()}
        found |= self._copied_schemas
        for source in self.sources:
            found |= dict.fromkeys(self.late_outputs(source.name), source.schema)
            found[dead_letter_output(source.name)] = REJECTS
        found |= self.registry.outputs if self.registry else {}
        return found | {view.shedding.loss_to: LOSSES for view in self.views if view.shedding and view.shedding.loss_to}

    def list_new_outputs(self, before: "Pipeline") -> dict[str, pa.Schema]:
        """The outputs that another pipeline of the run did not have, or whose view has come anew since."""
        known = before.outputs()
        numbers = before.views_by_number.keys()
        came = [view for number, view in self.views_by_number.items() if number not in numbers]
        anew = {output for view in came for output in self.list_answered(view)}
        return {name: schema for name, schema in self.outputs().items() if name not in known or name in anew}


def list_answered(view: CutView, copies: Iterable[Copy]) -> list[str]:
    """The outputs of a plan, and which of some views have copies of them."""
    return [*view.outputs, *(copy.name for copy in copies if copy.of in view.outputs)]


def _claim(uses: dict[str, str], output: str, use: str, claimer: str) -> None:
    """Note what an output is for, unless it, or the folder it is in, is for something else."""
    folder, _, inner = output.casefold().partition("/")
    for taken in (folder, output.casefold()) if inner and folder != _DEAD_LETTERS else (output.casefold(),):
        if uses.get(taken, use) != use:
            raise InputError(f"{claimer} {output!r}, which is {uses[taken]}; choose another name")
    uses[output.casefold()] = use


def _find_late_outputs(view: CutView) -> dict[str, str]:
    """Where a view's late readings go, and whose they are: of several streams, each has a folder of its own."""
    sources = {feed.source.name: None for feed in view.clocks}
    if view.late_to is None:
        return {}
    return {view.late_to if len(sources) == 1 else f"{view.late_to}/{source}": source for source in sources}
