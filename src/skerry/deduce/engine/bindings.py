"""Bindings of a rule's variables, a column each: what the steps of a plan hand on."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from skerry.deduce.engine.encoding import Encoding
from skerry.deduce.engine.relation import Relation
from skerry.deduce.values import Row
from skerry.model.arrays import Bools, Int64s
from skerry.model.term import Value
from skerry.plan.program import Program, Rule

__all__ = ["BELOW", "LOWEST", "ORIGIN", "RANK", "Calls", "Frame", "Setting", "Step"]

LOWEST = -(2**62)
"""Below all ranks."""
ORIGIN, BELOW, RANK = "#origin", "#below", "#rank"
"""Columns beside the variables: from which row a binding came, which rank its inputs must be below, their greatest."""


class Calls(Protocol):
    """Who calls built-ins."""

    def call(self, name: str, rows: Sequence[Row]) -> Sequence[Value | None]:
        """What the function or predicate says of each row; None where it says nothing."""


@dataclass(slots=True)
class Frame:
    """Columns of equal length by name."""

    count: int
    columns: dict[str, Int64s]

    def take(self, places: Int64s, names: Sequence[str]) -> "Frame":
        """The bindings at some places, of them the columns that are still needed."""
        columns = self.columns
        return Frame(places.size, {name: columns[name][places] for name in names if name in columns})

    def where(self, holds: Bools, names: Sequence[str]) -> "Frame":
        """The bindings for which something holds."""
        if holds.all():
            return self
        return self.take(np.flatnonzero(holds), names)

    def slice(self, start: int, stop: int) -> "Frame":
        """Some bindings in a row."""
        return Frame(stop - start, {name: column[start:stop] for name, column in self.columns.items()})


@dataclass(frozen=True)
class Setting:
    """What all plans of a program share."""

    program: Program
    relations: Mapping[str, Relation]
    encoding: Encoding
    calls: Calls
    unit: int
    check: Callable[[Rule], None]
    """Called between pieces of a rule's work: raises when the time is up."""


class Step(Protocol):
    """One step of a plan."""

    def run(self, frame: Frame, want: int) -> Frame:
        """The bindings after it, relations being looked at in one of the states wanted."""
