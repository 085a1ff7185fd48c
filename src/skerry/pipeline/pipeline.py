"""What both runtimes run: connectors, views cut into stages, and the names of all outputs."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa

from skerry.build.stages import FEWEST_INDEXED, Feed, Stages
from skerry.catalog import Source
from skerry.errors import InputError
from skerry.model.time import Micros
from skerry.pipeline.gate import Tally
from skerry.replay.replay import Replay
from skerry.shedding.report import LOSSES
from skerry.sources.arrival import Stamp
from skerry.sources.source import REJECTS, Connector, Split
from skerry.subscriptions.registry import SUBSCRIPTIONS, Registry
from skerry.subscriptions.selections import Selections
from skerry.subscriptions.versions import Registrar, RegistryPlace

__all__ = ["Outcome", "Pipeline", "dead_letters", "never", "since"]

_DEAD_LETTERS = "dead_letters"
_TAKEN = {_DEAD_LETTERS: "rejected readings", SUBSCRIPTIONS: "answers of subscriptions"}

Count = TypeVar("Count", int, Tally)


def never() -> bool:
    """Say no: the answer of a run that nobody stops."""
    return False


def dead_letters(source: str) -> str:
    """The output that receives a source's rejected readings."""
    return f"{_DEAD_LETTERS}/{source}"


@dataclass(frozen=True)
class Pipeline:
    """A set of standing queries and the sources they read. Immutable, picklable."""

    connectors: tuple[Connector, ...]
    views: tuple[Stages, ...]
    step_rows: int = 1_000_000
    foreign: tuple[Source, ...] = ()
    """Sources that the runtime itself reads."""
    tables: tuple[Source, ...] = ()
    """What streams are looked up in."""
    base: Path = Path()
    """Where relative paths start."""
    registry: RegistryPlace | None = None
    """Where the subscriptions to its streams are, if there can be any."""

    def __post_init__(self) -> None:
        """An output has one writer: a view, its losses, or the late readings of one source."""
        taken = {output: "is a view itself" for view in self.views for output in view.outputs}
        for view in self.views:
            lost = view.shedding.loss_to if view.shedding else None
            if lost and taken.setdefault(lost, told := f"gets those of {view.name!r}") != told:
                raise InputError(f"view {view.name!r} tells its losses to {lost!r}, which {taken[lost]}")
        for view in self.views:
            for name in view.outputs.keys() & _TAKEN.keys():
                raise InputError(f"a view cannot be called {name!r}: {_TAKEN[name]} are kept there")
            for output, source in _late_outputs(view).items():
                told = f"gets those of {source!r}"
                if taken.setdefault(output, told) != told:
                    raise InputError(f"view {view.name!r} sends late readings to {output!r}, which {taken[output]}")

    @property
    def sources(self) -> tuple[Source, ...]:
        """All sources that are read."""
        return (*self.own_sources, *self.foreign)

    @property
    def own_sources(self) -> tuple[Source, ...]:
        """Those that Skerry reads by itself."""
        return tuple(connector.definition for connector in self.connectors)

    @property
    def live(self) -> bool:
        """Whether some source has no end."""
        return any(connector.live for connector in self.connectors)

    @property
    def most_lags(self) -> dict[str, Micros]:
        """The views that give readings up when they lag, and by how much they may."""
        found = {view.name: view.shedding.max_lag_us for view in self.views if view.shedding}
        return {name: lag for name, lag in found.items() if lag is not None}

    def replay(self) -> Replay:
        """What plans the steps of a run."""
        next_version = Registrar(self.registry).next_version if self.registry else int
        return Replay(self.connectors, self.step_rows, self.most_lags, next_version)

    @cached_property
    def selections(self) -> dict[str, Selections]:
        """By source, the views that only select and are asked together, for they are many.

        Once asked for, they go with the pipeline wherever it is sent.
        """
        found: dict[str, list[Stages]] = {}
        for view in self.views:
            if view.only_selects:
                found.setdefault(view.feeds[0].source.name, []).append(view)
        return {source: Selections.of(views) for source, views in found.items() if len(views) >= FEWEST_INDEXED}

    def readers(self, source: str) -> list[tuple[int, Stages, Feed]]:
        """The feeds that read a source by themselves, with their views and the views' numbers."""
        together = self.selections.get(source, ())
        return [
            (number, view, feed)
            for number, view in enumerate(self.views)
            for feed in view.feeds
            if feed.source.name == source and view.name not in together
        ]

    def matches(
        self, source: str, readings: pa.RecordBatch, registry: Registry | None
    ) -> Iterator[tuple[str, pa.RecordBatch]]:
        """What is answered by the query index, by output: views that only select, and subscriptions; and ``COUNTS``."""
        if together := self.selections.get(source):
            yield from together.answers(readings).items()
        if registry:
            yield from registry.matches(source, readings).items()

    def stamp(self, split: Split) -> Stamp | None:
        """What marks a split's readings with the order of their arrival, if some view needs that."""
        feeds = [feed for _, _, feed in self.readers(split.source) if feed.stamped]
        return Stamp(feeds[0].source.event_time, split.lane) if feeds else None

    def late_outputs(self, source: str) -> list[str]:
        """Where a source's late readings go, each place once."""
        found = {output for view in self.views for output, of in _late_outputs(view).items() if of == source}
        return sorted(found)

    def outputs(self) -> dict[str, pa.Schema]:
        """Every output and its columns."""
        found = {output: schema for view in self.views for output, schema in view.outputs.items()}
        for source in self.sources:
            found |= dict.fromkeys(self.late_outputs(source.name), source.schema)
            found[dead_letters(source.name)] = REJECTS
        found |= self.registry.outputs if self.registry else {}
        return found | {view.shedding.loss_to: LOSSES for view in self.views if view.shedding and view.shedding.loss_to}


def _late_outputs(view: Stages) -> dict[str, str]:
    """Where a view's late readings go, and whose they are: of several streams, each has a folder of its own."""
    sources = {feed.source.name: None for feed in view.clocks}
    if view.late_to is None:
        return {}
    return {view.late_to if len(sources) == 1 else f"{view.late_to}/{source}": source for source in sources}


@dataclass(frozen=True)
class Outcome:
    """How a run, or a batch of it, ended: tallies and newest event times by source, answers by output."""

    tallies: dict[str, Tally] = field(default_factory=dict)
    newest: dict[str, Micros] = field(default_factory=dict)
    answers: dict[str, int] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)
    """The views that had to stop, and why."""
    loads: dict[str, dict[str, int]] = field(default_factory=dict)
    """How many rows each bucket of a view took."""
    hot_keys: dict[str, dict[str, int]] = field(default_factory=dict)
    """About how many rows of a view have keys that many have."""
    figures: dict[str, dict[str, int]] = field(default_factory=dict)
    """What else a view's operators have counted."""
    batches: int = 0
    lag_us: int = 0
    """How long, at the most, readings had waited when their step began."""
    version: int = 0
    """That of the subscriptions."""

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> "Outcome":
        """The outcome that ``dataclasses.asdict`` spelled out, through JSON and back."""
        return cls(**{**told, "tallies": {source: Tally(**tally) for source, tally in told["tallies"].items()}})

    def then(self, later: "Outcome") -> "Outcome":
        """This, and what came later."""
        newest = dict(self.newest)
        for source, moment in later.newest.items():
            newest[source] = max(newest.get(source, moment), moment)
        return Outcome(
            _added(self.tallies, later.tallies, Tally()),
            newest,
            _added(self.answers, later.answers, 0),
            later.failures | self.failures,
            _added_within(self.loads, later.loads),
            _added_within(self.hot_keys, later.hot_keys),
            _added_within(self.figures, later.figures),
            self.batches + later.batches,
            max(self.lag_us, later.lag_us),
            max(self.version, later.version),
        )


def since(before: Mapping[str, int], now: Mapping[str, int]) -> dict[str, int]:
    """By how much figures have grown; those that have not are left out.

    >>> since({"rows": 3}, {"rows": 5, "bytes": 0})
    {'rows': 2}
    """
    grown = {name: count - before.get(name, 0) for name, count in now.items()}
    return {name: count for name, count in grown.items() if count}


def _added(one: Mapping[str, Count], other: Mapping[str, Count], nothing: Count) -> dict[str, Count]:
    """What two count, by name."""
    found = dict(one)
    for name, count in other.items():
        found[name] = found.get(name, nothing) + count
    return found


def _added_within(
    one: Mapping[str, Mapping[str, int]], other: Mapping[str, Mapping[str, int]]
) -> dict[str, dict[str, int]]:
    return {name: _added(one.get(name, {}), other.get(name, {}), 0) for name in {**one, **other}}
