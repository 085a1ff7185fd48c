"""What both runtimes run: connectors, views cut into stages, and the names of all outputs."""

from dataclasses import dataclass, field

import pyarrow as pa

from skerry.catalog import Source
from skerry.errors import InputError
from skerry.model.time import Micros
from skerry.plan.stages import Stages
from skerry.proxies.gate import Tally
from skerry.sources.source import REJECTS, Connector

__all__ = ["Outcome", "Pipeline", "dead_letters", "never"]

_DEAD_LETTERS = "dead_letters"


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

    def __post_init__(self) -> None:
        """An output has one writer: a view, or the late readings of one source."""
        taken = {view.name: "is a view itself" for view in self.views}
        for view in self.views:
            if view.name == _DEAD_LETTERS:
                raise InputError(f"a view cannot be called {_DEAD_LETTERS!r}: rejected readings are kept there")
            told = f"gets those of {view.source.name!r}"
            if view.late_to and taken.setdefault(view.late_to, told) != told:
                raise InputError(
                    f"view {view.name!r} sends late readings to {view.late_to!r}, which {taken[view.late_to]}"
                )

    @property
    def sources(self) -> tuple[Source, ...]:
        """All sources that are read."""
        return (*(connector.definition for connector in self.connectors), *self.foreign)

    @property
    def live(self) -> bool:
        """Whether some source has no end."""
        return any(connector.live for connector in self.connectors)

    def readers(self, source: str) -> list[tuple[int, Stages]]:
        """The views that read a source, with their numbers."""
        return [(number, view) for number, view in enumerate(self.views) if view.source.name == source]

    def late_outputs(self, source: str) -> list[str]:
        """Where a source's late readings go, each place once."""
        return sorted({view.late_to for _, view in self.readers(source) if view.late_to})

    def outputs(self) -> dict[str, pa.Schema]:
        """Every output and its columns."""
        found = {view.name: view.view.root.schema for view in self.views}
        for source in self.sources:
            found |= dict.fromkeys(self.late_outputs(source.name), source.schema)
            found[dead_letters(source.name)] = REJECTS
        return found


@dataclass(frozen=True)
class Outcome:
    """How a run, or a batch of it, ended: tallies and newest event times by source, answers by output."""

    tallies: dict[str, Tally] = field(default_factory=dict)
    newest: dict[str, Micros] = field(default_factory=dict)
    answers: dict[str, int] = field(default_factory=dict)
    batches: int = 0

    def then(self, later: "Outcome") -> "Outcome":
        """This, and what came later."""
        tallies, answers, newest = dict(self.tallies), dict(self.answers), dict(self.newest)
        for source, tally in later.tallies.items():
            tallies[source] = tallies.get(source, Tally()) + tally
        for output, rows in later.answers.items():
            answers[output] = answers.get(output, 0) + rows
        for source, moment in later.newest.items():
            newest[source] = max(newest.get(source, moment), moment)
        return Outcome(tallies, newest, answers, self.batches + later.batches)
