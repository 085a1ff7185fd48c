"""A predicate as the region of readings for which it is true: boxes over columns, and what no box can express."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from skerry.index.value_sets import ValueSet

__all__ = ["Box", "Region"]


@dataclass(frozen=True)
class Box:
    """A reading is in a box if each column named has a value of its set, and the residual is true.

    A set has one span at the most. NULL belongs to it only if there is no span or it starts at the least value.
    """

    sides: Mapping[str, ValueSet] = field(default_factory=dict)
    residual: str = ""
    """An expression in DuckDB's dialect; empty if the sides decide alone."""


@dataclass(frozen=True)
class Region:
    """A union of boxes, which may overlap. None at all: the predicate is true for no reading."""

    boxes: tuple[Box, ...]

    @property
    def is_exact(self) -> bool:
        """Whether boxes alone decide."""
        return not any(box.residual for box in self.boxes)
