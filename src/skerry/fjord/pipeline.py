"""What both runtimes run: connectors, views cut into stages, and the names of all outputs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa

from skerry.catalog import Source
from skerry.errors import InputError
from skerry.model.time import Micros
from skerry.plan.stages import Feed, Stages
from skerry.proxies.gate import Tally
from skerry.sources.arrival import Stamp
from skerry.sources.source import REJECTS, Connector, Split

__all__ = ["Outcome", "Pipeline", "dead_letters", "never", "since"]

_DEAD_LETTERS = "dead_letters"

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

    def __post_init__(self) -> None:
        """An output has one writer: a view, or the late readings of one source."""
        taken = {view.name: "is a view itself" for view in self.views}
        for view in self.views:
            if view.name == _DEAD_LETTERS:
                raise InputError(f"a view cannot be called {_DEAD_LETTERS!r}: rejected readings are kept there")
            for output, source in _late_outputs(view).items():
                told = f"gets those of {source!r}"
                if taken.setdefault(output, told) != told:
                    raise InputError(f"view {view.name!r} sends late readings to {output!r}, which {taken[output]}")

    @property
    def sources(self) -> tuple[Source, ...]:
        """All sources that are read."""
        return (*(connector.definition for connector in self.connectors), *self.foreign)

    @property
    def live(self) -> bool:
        """Whether some source has no end."""
        return any(connector.live for connector in self.connectors)

    def readers(self, source: str) -> list[tuple[int, Stages, Feed]]:
        """The feeds that read a source, with their views and the views' numbers."""
        return [
            (number, view, feed)
            for number, view in enumerate(self.views)
            for feed in view.feeds
            if feed.source.name == source
        ]

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
        found = {view.name: view.view.root.schema for view in self.views}
        for source in self.sources:
            found |= dict.fromkeys(self.late_outputs(source.name), source.schema)
            found[dead_letters(source.name)] = REJECTS
        return found


def _late_outputs(view: Stages) -> dict[str, str]:
    """Where a view's late readings go, and whose they are: of several sources, each has a folder of its own."""
    sources = {feed.source.name: None for feed in view.feeds}
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
