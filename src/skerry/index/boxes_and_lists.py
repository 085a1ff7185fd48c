"""All boxes of an index: those that ask for a value that few others want are found by it, others by their extent."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from skerry.index.access import GRAMS, TEXTS, Access, expand, list_alike_points, list_points, list_runs
from skerry.index.box_index import BoxIndex, Marks, Pairs
from skerry.index.column_codes import Axis, Interval, encode_side, encode_sides
from skerry.index.gram_lists import GramLists
from skerry.index.operand_columns import OperandColumns, read_operand, write_operand
from skerry.index.point_lists import Key, PointLists
from skerry.index.region import Box, Operand
from skerry.index.value_set_column import ValueSetColumn
from skerry.index.value_sets import ValueSet
from skerry.kernels.index.match_pairs import merge_pairs
from skerry.model.arrays import Int64s

__all__ = ["BoxesAndLists"]

_SHORT, _SHARE = 64, 128
"""A value that more boxes want than this, and than one in so many, finds too many of them."""
_AXES, _LIST = ("axes", "box_axes"), "list "


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
        self._lists: dict[Access, PointLists] = {}
        self._list_of: dict[int, Access] = {}

    def __contains__(self, number: int) -> bool:
        """Whether there is a box of this number."""
        return number in self._list_of or number in self._boxes

    @property
    def nbytes(self) -> int:
        """How much memory the arrays take."""
        return self._boxes.nbytes + sum(found.nbytes for found in self._lists.values())

    def add(self, number: int, box: Box) -> Mapping[Operand, ValueSet]:
        """Add a box. Given back are the sides that are decided by codes alone, which may not be exact."""
        chosen = expand(*box.listed) if box.listed else self._choose(box)
        if chosen is None:
            self._boxes.add(number, _number_sides(box.sides, self._box_axes))
            return box.sides
        access, keys = chosen
        sides = box.sides
        if not box.listed and access.kind != GRAMS:
            sides = {name: side for name, side in sides.items() if name != access.operand}
        self._find_lists(access).add(number, keys, _number_sides(sides, self._axes))
        self._list_of[number] = access
        return sides

    def add_alike(self, numbers: Int64s, box: Box) -> Iterator[tuple[Int64s, Mapping[Operand, ValueSet]]]:
        """Add boxes that are alike. Given back are rows, and of these the sides that are decided by codes alone."""
        points = list_alike_points(box.sides)
        chosen, wanted = np.full(numbers.size, -1), np.full(numbers.size, -1)
        self._choose_alike(points, chosen, wanted)
        accesses = [access for access, _ in points]
        if box.contained is not None:
            accesses.append(Access(box.contained[0], GRAMS))
            self._choose_runs(box, chosen, wanted, len(points))
        for choice in np.unique(chosen).tolist():
            rows = np.flatnonzero(chosen == choice)
            access = accesses[choice] if choice >= 0 else None
            decided = None if access is None or access.kind == GRAMS else access.operand
            kept = {name: side for name, side in box.sides.items() if name != decided}
            sides = {name: side.take(rows) if isinstance(side, ValueSetColumn) else side for name, side in kept.items()}
            if access is None:
                self._boxes.add_alike(numbers[rows], _number_alike(sides, self._box_axes, rows.size))
            else:
                axes = _number_alike(sides, self._axes, rows.size)
                self._lists[access].add_alike(numbers[rows], wanted[rows], axes)
                self._list_of |= dict.fromkeys(numbers[rows].tolist(), access)
            yield rows, sides

    def _find_lists(self, access: Access) -> PointLists:
        lists = self._lists.get(access)
        if lists is None:
            lists = self._lists[access] = _make_lists(access.kind)
        return lists

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
        for number, access in enumerate(Access(*each) for each in accesses):
            prefix = f"{_LIST}{number} "
            own = {name.removeprefix(prefix): part for name, part in parts.items() if name.startswith(prefix)}
            found._lists[access] = type(_make_lists(access.kind)).restore(own, is_text=access.kind == TEXTS)
            found._list_of |= dict.fromkeys(own["numbers"].to_pylist(), access)
        return found

    def _choose(self, box: Box) -> tuple[Access, list[Key]] | None:
        """The value by which to find a box, or else the run of bytes: what fewest others want. None if none is rare."""
        fewest = self._limit_wanting(0)
        return self._choose_least(list_points(box.sides), fewest) or self._choose_least(list_runs(box), fewest)

    def _choose_least(self, points: Sequence[tuple[Access, Key]], fewest: int) -> tuple[Access, list[Key]] | None:
        chosen = None
        for access, key in points:
            lists = self._lists.get(access)
            count = lists.count_wanting(key) if lists is not None else 0
            if count < fewest:
                fewest, chosen = count, (access, [key])
        return chosen

    def _limit_wanting(self, more: int) -> int:
        """A value that so many boxes want finds too many, where ``more`` boxes are about to come."""
        return max(_SHORT, (len(self._list_of) + len(self._boxes) + more) // _SHARE) + 1

    def _choose_alike(
        self, points: Sequence[tuple[Access, Sequence[Key | None]]], chosen: Int64s, wanted: Int64s
    ) -> None:
        """For each box that has no choice yet, which of the points fewest others want, and the number of its value."""
        held = [self._lists.get(access) for access, _ in points]
        known = len(self._list_of) + len(self._boxes)
        for row in np.flatnonzero(chosen < 0).tolist() if points else ():
            fewest, best = max(_SHORT, (known + row) // _SHARE) + 1, -1
            for index, (_, keys) in enumerate(points):
                key, lists = keys[row], held[index]
                count = 0 if lists is None or key is None else lists.count_wanting(key)
                if key is not None and count < fewest:
                    fewest, best = count, index
            if best >= 0:
                access, keys = points[best]
                lists = held[best] = self._find_lists(access)
                key = keys[row]
                assert key is not None
                chosen[row], wanted[row] = best, lists.want(key)

    def _choose_runs(self, box: Box, chosen: Int64s, wanted: Int64s, choice: int) -> None:
        """The same for runs of bytes."""
        assert box.contained is not None
        name, texts = box.contained
        for row in np.flatnonzero(chosen < 0).tolist():
            runs = list_runs(box._replace(contained=(name, texts[row])))
            found = self._choose_least(runs, self._limit_wanting(row))
            if found is not None:
                access, (key,) = found
                chosen[row], wanted[row] = choice, self._find_lists(access).want(key)


def _make_lists(kind: str) -> PointLists:
    return GramLists() if kind == GRAMS else PointLists(is_text=kind == TEXTS)


def _number_sides(sides: Mapping[Operand, ValueSet], axes: dict[Axis, int]) -> dict[int, Interval]:
    """Sides by the number of their axis; a new axis gets the next."""
    found: dict[int, Interval] = {}
    for operand, values in sides.items():
        for axis, interval in encode_side(operand, values).items():
            number = axes.get(axis)
            found[axes.setdefault(axis, len(axes)) if number is None else number] = interval
    return found


def _number_alike(
    sides: Mapping[Operand, ValueSet], axes: dict[Axis, int], count: int
) -> dict[int, tuple[Int64s, Int64s]]:
    """The same of so many boxes that are alike."""
    found: dict[int, tuple[Int64s, Int64s]] = {}
    for operand, values in sides.items():
        for axis, ends in encode_sides(operand, values, count).items():
            found[axes.setdefault(axis, len(axes))] = ends
    return found


def _restore_axes(parts: Mapping[str, pa.Array], name: str) -> dict[Axis, int]:
    axes = zip(parts[name].to_pylist(), parts[f"{name}_hashed"].to_pylist(), strict=True)
    return {Axis(read_operand(text), bool(hashed)): number for number, (text, hashed) in enumerate(axes)}
