"""All boxes of an index: those that ask for a value that few others want are found by it, others by their extent."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from skerry.index.box_index import BoxIndex, Marks, Pairs
from skerry.index.column_codes import Axis, Interval, encode_side
from skerry.index.gram_lists import GRAM, GramLists, list_grams
from skerry.index.operand_columns import OperandColumns, read_operand, write_operand
from skerry.index.point_lists import Key, PointLists
from skerry.index.region import Box, Operand
from skerry.index.value_sets import ValueSet
from skerry.kernels.index.match_pairs import merge_pairs
from skerry.model.arrays import Int64s

__all__ = ["BoxesAndLists"]

_SHORT, _SHARE = 64, 128
"""A value that more boxes want than this, and than one in so many, finds too many of them."""
_AXES, _LIST = ("axes", "box_axes"), "list "
_VALUES, _TEXTS, _GRAMS = "values", "texts", "grams"


class _Access(NamedTuple):
    """What boxes are found by: the values of an operand, its texts, or runs of bytes in them."""

    operand: Operand
    kind: str


class BoxesAndLists:
    """Boxes under numbers of the caller's choice, which must not be large.

    >>> boxes = BoxesAndLists()
    >>> speeds = {"speed": ValueSet(((0, 30),))}
    >>> exact = boxes.add(0, Box({"road": ValueSet(((b"i80", b"i80" + bytes(1)),)), **speeds}))
    >>> exact = boxes.add(1, Box(speeds))
    >>> batch = pa.record_batch({"road": ["i80", "i5"], "speed": [10, 20]})
    >>> rows, numbers = boxes.match(OperandColumns(batch, {}))
    >>> rows.tolist(), numbers.tolist()
    ([0, 0, 1], [1, 0, 1])
    """

    def __init__(self) -> None:
        self._axes: dict[Axis, int] = {}
        self._box_axes: dict[Axis, int] = {}
        self._boxes = BoxIndex(axes=1)
        self._lists: dict[_Access, PointLists] = {}
        self._list_of: dict[int, _Access] = {}

    def __contains__(self, number: int) -> bool:
        """Whether there is a box of this number."""
        return number in self._list_of or number in self._boxes

    @property
    def nbytes(self) -> int:
        """How much memory the arrays take."""
        return self._boxes.nbytes + sum(found.nbytes for found in self._lists.values())

    def add(self, number: int, box: Box) -> Mapping[Operand, ValueSet]:
        """Add a box. Given back are the sides that are decided by codes alone, which may not be exact."""
        chosen = _expand(*box.listed) if box.listed else self._choose_value(box.sides) or self._choose_gram(box)
        if chosen is None:
            self._boxes.add(number, _number_sides(box.sides, self._box_axes))
            return box.sides
        access, keys = chosen
        sides = box.sides
        if not box.listed and access.kind != _GRAMS:
            sides = {name: side for name, side in sides.items() if name != access.operand}
        lists = self._lists.get(access)
        if lists is None:
            lists = self._lists[access] = _make_lists(access.kind)
        lists.add(number, keys, _number_sides(sides, self._axes))
        self._list_of[number] = access
        return sides

    def remove(self, number: int) -> None:
        """Remove a box."""
        access = self._list_of.pop(number, None)
        if access is None:
            self._boxes.remove(number)
        else:
            self._lists[access].remove(number)

    def match(self, columns: OperandColumns) -> Pairs:
        """The pairs of a reading and a box that it is in, in order of readings."""
        known: dict[Axis, Int64s] = {}
        found = self._boxes.match(columns.encode(self._box_axes, known))
        for access, boxes in self._lists.items():
            if len(boxes):
                others = boxes.match(columns.encode(self._axes, known), columns.find(access.operand))
                found = Pairs(*merge_pairs(found, others)) if found.rows.size else Pairs(*others)
        return found

    def marks(self, columns: OperandColumns) -> Marks:
        """One bitmap per reading."""
        known: dict[Axis, Int64s] = {}
        marks = self._boxes.marks(columns.encode(self._box_axes, known))
        for access, boxes in self._lists.items():
            rows, numbers = boxes.match(columns.encode(self._axes, known), columns.find(access.operand))
            held = np.array([number for number, wanted in self._list_of.items() if wanted == access], np.int32)
            labels = np.full(-(-held.size // 64) * 64, -1, np.int32)
            labels[: held.size] = held
            bits = np.zeros((columns.batch.num_rows, labels.size), np.uint8)
            positions = np.zeros(held.max(initial=0) + 1, np.int64)
            positions[held] = np.arange(held.size)
            bits[rows, positions[numbers]] = 1
            words = np.packbits(bits, axis=1, bitorder="little").view(np.uint64)
            marks = Marks(np.concatenate([marks.bits, words], axis=1), np.concatenate([marks.numbers, labels]))
        return marks

    def settle(self) -> None:
        """Build now what the next match would build."""
        self._boxes.settle()
        for boxes in self._lists.values():
            boxes.settle()

    def save(self) -> dict[str, Any]:
        """All there is, as arrays and lists."""
        parts: dict[str, Any] = dict(self._boxes.save())
        for name, axes in zip(_AXES, (self._axes, self._box_axes), strict=True):
            parts[name] = [write_operand(axis.operand) for axis in axes]
            parts[f"{name}_hashed"] = np.array([axis.hashed for axis in axes], np.int64)
        parts["lists"] = [write_operand(access.operand) for access in self._lists]
        parts["list_kinds"] = [access.kind for access in self._lists]
        for number, found in enumerate(self._lists.values()):
            parts |= {f"{_LIST}{number} {name}": part for name, part in found.save().items()}
        return parts

    @classmethod
    def restore(cls, parts: Mapping[str, pa.Array]) -> "BoxesAndLists":
        """Rebuild what ``save`` gave."""
        found = cls()
        found._boxes = BoxIndex.restore({name: parts[name].to_numpy() for name in BoxIndex.PARTS})
        found._axes, found._box_axes = (_restore_axes(parts, name) for name in _AXES)
        accesses = zip(map(read_operand, parts["lists"].to_pylist()), parts["list_kinds"].to_pylist(), strict=True)
        for number, access in enumerate(_Access(*each) for each in accesses):
            prefix = f"{_LIST}{number} "
            own = {name.removeprefix(prefix): part for name, part in parts.items() if name.startswith(prefix)}
            found._lists[access] = type(_make_lists(access.kind)).restore(own, is_text=access.kind == _TEXTS)
            found._list_of |= dict.fromkeys(own["numbers"].to_pylist(), access)
        return found

    def _choose_value(self, sides: Mapping[Operand, ValueSet]) -> tuple[_Access, list[Key]] | None:
        """The value by which to find a box: the one that fewest want. None if there is none that few want."""
        points: list[tuple[_Access, Key]] = []
        for operand, values in sides.items():
            key = _find_point(values)
            if key is not None:
                points.append((_Access(operand, _TEXTS if isinstance(key, bytes) else _VALUES), key))
        return self._choose_least_wanted(points)

    def _choose_gram(self, box: Box) -> tuple[_Access, list[Key]] | None:
        """The run of bytes by which to find a box, chosen in the same way."""
        if box.contained is None or len(box.contained[1]) < GRAM:
            return None
        access = _Access(box.contained[0], _GRAMS)
        return self._choose_least_wanted([(access, gram) for gram in list_grams(box.contained[1])])

    def _choose_least_wanted(self, points: Sequence[tuple[_Access, Key]]) -> tuple[_Access, list[Key]] | None:
        fewest, chosen = max(_SHORT, (len(self._list_of) + len(self._boxes)) // _SHARE) + 1, None
        for access, key in points:
            lists = self._lists.get(access)
            count = lists.count_wanting(key) if lists is not None else 0
            if count < fewest:
                fewest, chosen = count, (access, [key])
        return chosen


def _make_lists(kind: str) -> PointLists:
    return GramLists() if kind == _GRAMS else PointLists(is_text=kind == _TEXTS)


def _find_point(values: ValueSet) -> Key | None:
    """The only value of a set; None if there are others, or NULL."""
    spans, null = values
    if null or len(spans) != 1:
        return None
    ((low, high),) = spans
    is_one = high == low + b"\0" if isinstance(low, bytes) else high - low == 1
    return low if is_one else None


def _expand(operand: Operand, values: ValueSet) -> tuple[_Access, list[Key]]:
    """All values of a list."""
    if isinstance(values.spans[0][0], bytes):
        return _Access(operand, _TEXTS), [low for low, _ in values.spans]
    return _Access(operand, _VALUES), [key for low, high in values.spans for key in range(low, high)]


def _number_sides(sides: Mapping[Operand, ValueSet], axes: dict[Axis, int]) -> dict[int, Interval]:
    """Sides by the number of their axis; a new axis gets the next."""
    found: dict[int, Interval] = {}
    for operand, values in sides.items():
        for axis, interval in encode_side(operand, values).items():
            number = axes.get(axis)
            found[axes.setdefault(axis, len(axes)) if number is None else number] = interval
    return found


def _restore_axes(parts: Mapping[str, pa.Array], name: str) -> dict[Axis, int]:
    axes = zip(parts[name].to_pylist(), parts[f"{name}_hashed"].to_pylist(), strict=True)
    return {Axis(read_operand(text), bool(hashed)): number for number, (text, hashed) in enumerate(axes)}
