"""A predicate as the region of readings for which it is true: boxes over columns, and what no box can express."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import pyarrow as pa

from skerry.index.value_sets import ValueSet
from skerry.model.arrays import Int64s

__all__ = ["AlikeRegions", "Box", "Derived", "Operand", "Region", "Residual", "name_slot", "slots_of"]

_SLOT = re.compile(r'"\$(\d+):(\w+)"')


class Derived(NamedTuple):
    """An expression that the index computes for each reading, and treats as a column."""

    sql: str
    type: pa.DataType

    def __hash__(self) -> int:
        """By the text alone: that of a type is slow."""
        return hash(self.sql)


_NOTHING: frozenset[Derived] = frozenset()


Operand = str | Derived
"""What a side is about: a column by name, or an expression."""


def name_slot(number: int, type_: str) -> str:
    """What stands in a residual for a constant of a type of DuckDB's.

    >>> name_slot(0, "DOUBLE")
    '"$0:DOUBLE"'
    """
    return f'"${number}:{type_}"'


def slots_of(form: str) -> list[str]:
    """The types of the constants that a form has slots for, in order."""
    found = {int(slot[1]): slot[2] for slot in _SLOT.finditer(form)}
    return [found[number] for number in sorted(found)]


@dataclass(frozen=True)
class Residual:
    """An expression in DuckDB's dialect: a form that many predicates share, and the constants of one of them."""

    form: str
    columns: tuple[str, ...]
    """The columns that it reads."""
    constants: tuple[object, ...] = ()

    def with_constants(self, constants: tuple[object, ...]) -> "Residual":
        """The same form with others."""
        return Residual(self.form, self.columns, constants)

    @property
    def sql(self) -> str:
        """All in one text, the constants as literals.

        >>> Residual('"speed" * "$0:DOUBLE" > "flow"', ("speed", "flow"), (3.6,)).sql
        '"speed" * 3.6 > "flow"'
        """
        return _SLOT.sub(lambda slot: _write_literal(self.constants[int(slot[1])]), self.form)


def _write_literal(value: object) -> str:
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else str(value)


class Box(NamedTuple):
    """A reading is in a box if each operand named has a value of its set, and the residual is true.

    A set has one span at the most. NULL belongs to it only if there is no span or it starts at the least value.
    ``listed`` is an operand that must have one of many values, if there is such a list. ``contained`` is a column and
    a text in it without which the residual is not true.

    The boxes of many predicates that are alike are one, with columns for sets and lists for constants and texts.
    """

    sides: Mapping[Operand, ValueSet] = {}
    residual: Residual | None = None
    listed: tuple[Operand, ValueSet] | None = None
    contained: tuple[str, Any] | None = None


@dataclass(frozen=True)
class Region:
    """A union of boxes, which may overlap. None at all: the predicate is true for no reading."""

    boxes: tuple[Box, ...]

    @property
    def is_exact(self) -> bool:
        """Whether boxes alone decide."""
        return not any(box.residual for box in self.boxes)

    @property
    def derived(self) -> frozenset[Derived]:
        """The expressions that its boxes are about."""
        named = [operand for box in self.boxes for operand in box.sides if not isinstance(operand, str)]
        listed = [box.listed[0] for box in self.boxes if box.listed and not isinstance(box.listed[0], str)]
        return frozenset(named + listed) if named or listed else _NOTHING


class AlikeRegions(NamedTuple):
    """Regions of as many boxes each, over the same operands: of the predicates at some positions, in columns."""

    positions: Int64s
    region: Region
