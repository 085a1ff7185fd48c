"""Bindings of a rule's variables, a column each: what the steps of a plan hand on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from skerry.deduce.engine.encoding import Encoding
from skerry.deduce.engine.guard import Guard
from skerry.deduce.engine.relation import Relation
from skerry.deduce.evaluate import Calls
from skerry.model.arrays import Bools, Int64s
from skerry.plan.program import Program

__all__ = ["BELOW", "LOWEST", "ORIGIN", "RANK", "Bindings", "Setting"]

LOWEST = -(2**62)
"""Below all ranks."""
ORIGIN, BELOW, RANK = "#origin", "#below", "#rank"
"""Columns beside the variables: from which row a binding came, which rank its inputs must be below, their greatest."""


@dataclass(slots=True)
class Bindings:
    """Columns of equal length by name."""

    count: int
    columns: dict[str, Int64s]

    def take(self, rows: Int64s, names: Sequence[str]) -> "Bindings":
        """The bindings of some rows, with the columns that are still needed."""
        columns = self.columns
        return Bindings(rows.size, {name: columns[name][rows] for name in names if name in columns})

    def where(self, holds: Bools, names: Sequence[str]) -> "Bindings":
        """The bindings for which something holds."""
        if holds.all():
            return self
        return self.take(np.flatnonzero(holds), names)

    def slice(self, start: int, stop: int) -> "Bindings":
        """Some bindings in a row."""
        return Bindings(stop - start, {name: column[start:stop] for name, column in self.columns.items()})


@dataclass(frozen=True)
class Setting:
    """What all plans of a program share."""

    program: Program
    relations: Mapping[str, Relation]
    encoding: Encoding
    calls: Calls
    unit: int
    guard: Guard
