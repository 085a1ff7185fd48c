"""What a run, or a step of it, came to."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from skerry.model.functions import take_failed_rows
from skerry.model.time import Micros

__all__ = ["Outcome", "Tally", "count_growth"]


@dataclass(frozen=True)
class Tally:
    """What became of the readings that came in: each is counted exactly once.

    >>> Tally(3, 1, 0) + Tally(1, 0, 2)
    Tally(accepted=4, late=1, rejected=2)
    """

    accepted: int = 0
    late: int = 0
    rejected: int = 0

    @property
    def read(self) -> int:
        """All that came in."""
        return self.accepted + self.late + self.rejected

    def __add__(self, other: "Tally") -> "Tally":
        """Count two together."""
        return Tally(self.accepted + other.accepted, self.late + other.late, self.rejected + other.rejected)


Count = TypeVar("Count", int, Tally)


@dataclass(frozen=True)
class Outcome:
    """How a run, or a batch of it, ended: tallies and newest event times by source, answers by output."""

    tallies: dict[str, Tally] = field(default_factory=dict)
    newest: dict[str, Micros] = field(default_factory=dict)
    answers: dict[str, int] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)
    """The outputs of views that had to stop, and why."""
    loads: dict[str, dict[str, int]] = field(default_factory=dict)
    """How many rows each bucket of a view took."""
    hot_keys: dict[str, dict[str, int]] = field(default_factory=dict)
    """By view, the keys with many rows, and about how many each has."""
    figures: dict[str, dict[str, int]] = field(default_factory=dict)
    """What else a view's operators have counted."""
    batches: int = 0
    lag_us: int = 0
    """How long, at the most, readings had waited when their step began."""
    version: int = 0
    """That of the subscriptions."""
    held_back: dict[str, list[str]] = field(default_factory=dict)
    """The views that had not answered all at the end, since a source they read was behind the others; and these."""
    failed_rows: dict[str, int] = field(default_factory=dict)
    """By function of the program's own, the rows that it raised an error for, and that have NULL instead."""
    first_errors: dict[str, str] = field(default_factory=dict)
    """The first of these errors."""

    came: dict[str, int] = field(default_factory=dict)
    """The views that came while the run went on, and the number of the batch that was the first for each."""
    went: dict[str, int] = field(default_factory=dict)
    """The views that went, and the number of the first batch without each."""
    refused: dict[str, str] = field(default_factory=dict)
    """The views that came and are not answered, and why."""
    views: int = 0
    """The version of the views."""

    earlier: int = field(default=0, compare=False)
    """How many of the readings came in before the run was started again."""
    share: float | None = field(default=None, compare=False)
    """How much of its input a run has read so far; told to those who watch it alone, so None in what is saved, and
    where sources have no end (``replay.share``)."""

    @property
    def read(self) -> int:
        """All readings that came in."""
        return sum(self.read_by_source.values())

    @property
    def read_by_source(self) -> dict[str, int]:
        """All readings that came in, by source."""
        return {source: tally.read for source, tally in self.tallies.items()}

    @classmethod
    def of_functions(cls) -> "Outcome":
        """What the program's functions came to in this thread, since this was asked last."""
        failed = take_failed_rows()
        counts = {name: rows.count for name, rows in failed.items()}
        return cls(failed_rows=counts, first_errors={name: rows.first for name, rows in failed.items()})

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> "Outcome":
        """The outcome that ``dataclasses.asdict`` spelled out, through JSON and back."""
        return cls(**{**record, "tallies": {source: Tally(**tally) for source, tally in record["tallies"].items()}})

    def then(self, later: "Outcome") -> "Outcome":
        """This, and what came later."""
        newest = dict(self.newest)
        for source, moment in later.newest.items():
            newest[source] = max(newest.get(source, moment), moment)
        return Outcome(
            _add(self.tallies, later.tallies, Tally()),
            newest,
            _add(self.answers, later.answers, 0),
            later.failures | self.failures,
            _add_nested(self.loads, later.loads),
            _add_nested(self.hot_keys, later.hot_keys),
            _add_nested(self.figures, later.figures),
            self.batches + later.batches,
            max(self.lag_us, later.lag_us),
            max(self.version, later.version),
            {**self.held_back, **later.held_back},
            _add(self.failed_rows, later.failed_rows, 0),
            {**later.first_errors, **self.first_errors},
            self.came | later.came,
            self.went | later.went,
            self.refused | later.refused,
            max(self.views, later.views),
            max(self.earlier, later.earlier),
        )

    def start_again(self) -> "Outcome":
        """The same, for a run that goes on from here."""
        return replace(self, earlier=self.read)


def count_growth(before: Mapping[str, int], now: Mapping[str, int]) -> dict[str, int]:
    """By how much each figure has grown; figures that have not are left out.

    >>> count_growth({"rows": 3}, {"rows": 5, "bytes": 0})
    {'rows': 2}
    """
    grown = {name: count - before.get(name, 0) for name, count in now.items()}
    return {name: count for name, count in grown.items() if count}


def _add(one: Mapping[str, Count], other: Mapping[str, Count], nothing: Count) -> dict[str, Count]:
    """Two counts together, by name."""
    found = dict(one)
    for name, count in other.items():
        found[name] = found.get(name, nothing) + count
    return found


def _add_nested(
    one: Mapping[str, Mapping[str, int]], other: Mapping[str, Mapping[str, int]]
) -> dict[str, dict[str, int]]:
    return {name: _add(one.get(name, {}), other.get(name, {}), 0) for name in {**one, **other}}
