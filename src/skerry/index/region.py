"""A predicate as the region of readings for which it is true: boxes over columns, and what no box can say."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from skerry.index.value_sets import Cut, Values

__all__ = ["Box", "Region"]


@dataclass(frozen=True)
class Box:
    """A reading is in a box if each column named has a value of its set, and the residual is true.

    A set has one span at the most. NULL belongs to it only if there is no span or it starts at the least value.
    """

    sides: Mapping[str, Values] = field(default_factory=dict)
    residual: str = ""
    """An expression in DuckDB's dialect; empty where the sides say it all."""


@dataclass(frozen=True)
class Region:
    """A union of boxes, which may overlap. None at all: the predicate is true for no reading."""

    boxes: tuple[Box, ...]

    @property
    def exact(self) -> bool:
        """Whether boxes alone decide."""
        return not any(box.residual for box in self.boxes)

    def written(self) -> str:
        """The region as text, for the way to where it is needed."""
        return json.dumps([_told_box(box) for box in self.boxes])

    @classmethod
    def read(cls, text: str) -> "Region":
        """The region that was written.

        >>> region = Region((Box({"plate": Values(((b"a", b"b"),))}, "speed > gap"), Box({"speed": Values(((3, 5),))})))
        >>> Region.read(region.written()) == region
        True
        """
        return cls(tuple(Box({name: _side(*side) for name, side in sides}, left) for sides, left in json.loads(text)))


def _told_box(box: Box) -> object:
    sides = ((name, values.null, values.spans) for name, values in box.sides.items())
    return [
        (name, (null, [[_told(cut) for cut in span] for span in spans])) for name, null, spans in sides
    ], box.residual


def _side(null: bool, spans: list[list[int | str]]) -> Values:
    return Values(tuple((_cut(low), _cut(high)) for low, high in spans), null)


def _told(cut: Cut) -> int | str:
    return cut.hex() if isinstance(cut, bytes) else cut


def _cut(told: int | str) -> Cut:
    return bytes.fromhex(told) if isinstance(told, str) else told
