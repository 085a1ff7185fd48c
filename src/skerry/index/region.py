"""A predicate as the region of readings for which it is true: boxes over columns, and what no box can express."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from skerry.index.value_sets import Cut, ValueSet

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

    def to_json(self) -> str:
        """The region as JSON text."""
        return json.dumps([_box_to_json(box) for box in self.boxes])

    @classmethod
    def from_json(cls, text: str) -> "Region":
        """The region that ``to_json`` wrote.

        >>> plates, speeds = ValueSet(((b"a", b"b"),)), ValueSet(((3, 5),))
        >>> region = Region((Box({"plate": plates}, "speed > gap"), Box({"speed": speeds})))
        >>> Region.from_json(region.to_json()) == region
        True
        """
        return cls(
            tuple(Box({name: _side_from_json(*side) for name, side in sides}, left) for sides, left in json.loads(text))
        )


def _box_to_json(box: Box) -> object:
    sides = ((name, values.null, values.spans) for name, values in box.sides.items())
    return [
        (name, (null, [[_cut_to_json(cut) for cut in span] for span in spans])) for name, null, spans in sides
    ], box.residual


def _side_from_json(null: bool, spans: list[list[int | str]]) -> ValueSet:
    return ValueSet(tuple((_cut_from_json(low), _cut_from_json(high)) for low, high in spans), null)


def _cut_to_json(cut: Cut) -> int | str:
    return cut.hex() if isinstance(cut, bytes) else cut


def _cut_from_json(value: int | str) -> Cut:
    return bytes.fromhex(value) if isinstance(value, str) else value
