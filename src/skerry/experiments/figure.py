"""What all experiments give: a table, how to draw it, and what it says about the paper's claims."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import pyarrow as pa

__all__ = ["Figure", "Outcome", "Panel", "Verdict"]


class Outcome(StrEnum):
    """Whether a claim holds here."""

    HOLDS = "holds"
    DIRECTION = "in direction only"
    """The better one is better, but by less than the paper says."""
    FAILS = "does not hold"


@dataclass(frozen=True)
class Verdict:
    """A claim of a paper beside what was measured."""

    claim: str
    paper: str
    """The paper's number."""
    ours: str
    outcome: Outcome
    remark: str = ""
    """What differs, and the likely reason."""


@dataclass(frozen=True)
class Panel:
    """One drawing of a figure: a measure, a column of the table, against the figure's ``across``."""

    measure: str
    label: str
    logarithmic: bool = False
    low: str = ""
    """With ``high``, columns that say how far a measure was spread: drawn as a band around its line."""
    high: str = ""


@dataclass(frozen=True)
class Figure:
    """One figure of a paper, measured: a row of the table for each technique and each value of ``across``."""

    name: str
    title: str
    table: pa.Table
    across: str
    panels: tuple[Panel, ...]
    verdicts: tuple[Verdict, ...]
    notes: tuple[str, ...] = ()
    """How it was measured, and where that differs from the paper."""

    def techniques(self) -> list[str]:
        """The techniques, in the order of the table."""
        return list(dict.fromkeys(self.table.column("technique").to_pylist()))

    def line(self, technique: str, measure: str) -> tuple[list[float], list[float]]:
        """Where a technique was measured, and the measure there.

        >>> table = pa.table({"technique": ["a", "b", "a"], "streams": [2, 2, 4], "rate": [10.0, 20.0, 30.0]})
        >>> Figure("f", "", table, "streams", (), ()).line("a", "rate")
        ([2, 4], [10.0, 30.0])
        """
        rows = [row for row in self.table.to_pylist() if row["technique"] == technique]
        return [row[self.across] for row in rows], [row[measure] for row in rows]

    def at_largest(self, technique: str, measure: str) -> float:
        """The measure at the last point where the technique was measured."""
        return self.line(technique, measure)[1][-1]

    def with_verdicts(self, verdicts: Sequence[Verdict], notes: Sequence[str] = ()) -> "Figure":
        """The same figure, judged."""
        panels, all_notes = self.panels, (*self.notes, *notes)
        return Figure(self.name, self.title, self.table, self.across, panels, tuple(verdicts), all_notes)
