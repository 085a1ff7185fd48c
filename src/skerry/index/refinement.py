"""Refinement of matches: the query that a box belongs to, and what else must be true of a reading in the box."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa

from skerry.index.column_codes import are_exact, bytes_of, is_exact
from skerry.index.constants import Evaluator
from skerry.index.region import Operand, Residual, slots_of
from skerry.index.residual_predicates import Residuals
from skerry.index.text_bounds import TextBounds
from skerry.index.value_sets import ValueSet
from skerry.model.arrays import Bools, Int32s, Int64s

__all__ = ["Refinement"]


Sides = Mapping[Operand, ValueSet]
_BOX = np.dtype([("query", np.int32), ("residual", np.int32), ("special", np.bool_)])
"""Of a box: the number of its query, the index of its residual or -1, and whether more than its sides decides."""
_NONE = (-1, -1, False)
_ROOM = 1024
_ENDS, _BOXES = "ends of ", "boxes of "
_READERS: Mapping[str, Callable[[str], object]] = {"VARCHAR": str, "DOUBLE": float, "DECIMAL": Decimal}
"""How a saved constant is read, by the first word of its type; others are whole numbers."""


class Refinement:
    """Boxes by number. A box is special if its query has several, or a residual, or if texts must be compared."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._boxes = np.zeros(0, _BOX)
        self._specials = 0
        self._bounds: dict[Operand, tuple[TextBounds, Int64s]] = {}
        self._residuals = Residuals(evaluator)

    @property
    def has_special(self) -> bool:
        """Whether there is any special box."""
        return self._specials > 0

    @property
    def nbytes(self) -> int:
        """How much memory the arrays take."""
        return self._boxes.nbytes + sum(bounds.nbytes + indexes.nbytes for bounds, indexes in self._bounds.values())

    def are_special(self, numbers: Int32s) -> Bools:
        """Which boxes are special."""
        return self._boxes["special"][numbers]

    def queries_of(self, numbers: Int32s) -> Int32s:
        """The queries that boxes belong to."""
        return self._boxes["query"][numbers]

    def add(self, number: int, query: int, sides: Sides, residual: Residual | None, *, several: bool) -> None:
        """Add a box of a query: the sides that codes decide, and what is left."""
        self._make_room(number)
        special = several or residual is not None
        for operand, values in sides.items():
            if not is_exact(values):
                self._bound(number, operand, *values.spans[0])
                special = True
        self._boxes[number] = (query, -1 if residual is None else self._residuals.add(residual), special)
        self._specials += special

    def add_alike(self, numbers: Int64s, queries: Int64s, sides: Sides, residuals: Int64s, *, several: bool) -> None:
        """Add boxes that are alike, each of a query: the sides that codes decide, and their residuals, or -1."""
        self._make_room(int(numbers.max()))
        special = (residuals >= 0) | several
        for operand, values in sides.items():
            inexact = np.flatnonzero(~are_exact(values, numbers.size))
            special[inexact] = True
            for row in inexact.tolist():
                ((lows, highs),) = values.spans
                self._bound(int(numbers[row]), operand, lows[row], highs[row])
        for field, column in (("query", queries), ("residual", residuals), ("special", special)):
            self._boxes[field][numbers] = column
        self._specials += int(special.sum())

    def add_residuals(self, residual: Residual | None, count: int) -> Int64s:
        """What so many boxes that are alike have left, under numbers; -1 for nothing."""
        if residual is None:
            return np.full(count, -1)
        rows = zip(*residual.constants, strict=True) if residual.constants else [()] * count
        return np.array([self._residuals.add(residual.with_constants(constants)) for constants in rows], np.int64)

    def remove(self, number: int) -> None:
        """Remove a box."""
        self._specials -= int(self._boxes["special"][number])
        if self._boxes["residual"][number] >= 0:
            self._residuals.remove(int(self._boxes["residual"][number]))
        self._boxes[number] = _NONE
        for operand, (bounds, indexes) in self._bounds.items():
            if indexes[number] >= 0:
                bounds.remove(int(indexes[number]))
                indexes[number] = -1
                if bounds.is_sparse:
                    self._bounds[operand] = _close_gaps(bounds, indexes)

    def refine(
        self, batch: pa.RecordBatch, column_of: Callable[[Operand], pa.Array], rows: Int32s, numbers: Int32s
    ) -> tuple[Int32s, Int32s]:
        """Of rows and boxes they are in, the rows and queries that are true, each pair once, in order of rows."""
        for operand, (bounds, indexes) in self._bounds.items():
            kept = indexes[numbers] < 0
            if not kept.all():
                compared = np.flatnonzero(~kept)
                texts, where = bytes_of(column_of(operand)), indexes[numbers[compared]]
                kept[compared] = bounds.contain(texts, rows[compared].astype(np.int64), where)
                rows, numbers = rows[kept], numbers[kept]
        residuals = self._boxes["residual"][numbers]
        true, asked = residuals < 0, np.flatnonzero(residuals >= 0)
        if asked.size:
            true[asked] = self._residuals.decide(batch, rows[asked], residuals[asked])
        found = np.unique(rows[true].astype(np.int64) << 32 | self.queries_of(numbers[true]))
        return (found >> 32).astype(np.int32), (found & 0xFFFFFFFF).astype(np.int32)

    def save(self, write: Callable[[Operand], str]) -> dict[str, Any]:
        """All there is, as arrays and lists; ``write`` names an operand."""
        held = np.flatnonzero(self._boxes["residual"] >= 0)
        parts: dict[str, Any] = {
            "queries": self._boxes["query"],
            "specials": self._boxes["special"].astype(np.int64),
            "residual_boxes": held,
        }
        parts |= _save_residuals([self._residuals[number] for number in self._boxes["residual"][held].tolist()])
        for operand, (bounds, indexes) in self._bounds.items():
            used = np.flatnonzero(indexes >= 0)
            parts |= {_ENDS + write(operand): [cut for index in indexes[used].tolist() for cut in bounds[index]]}
            parts |= {_BOXES + write(operand): used}
        return parts

    @classmethod
    def restore(
        cls, parts: Mapping[str, pa.Array], evaluator: Evaluator, read: Callable[[str], Operand]
    ) -> "Refinement":
        """Rebuild what ``save`` gave."""
        refinement = cls(evaluator)
        refinement._boxes = np.full(len(parts["queries"]), np.array(_NONE, _BOX))
        for field, name in (("query", "queries"), ("special", "specials")):
            refinement._boxes[field] = parts[name].to_numpy()
        refinement._specials = int(refinement._boxes["special"].sum())
        for number, residual in zip(parts["residual_boxes"].to_pylist(), _restore_residuals(parts), strict=True):
            refinement._boxes["residual"][number] = refinement._residuals.add(residual)
        for name in (name.removeprefix(_ENDS) for name in parts if name.startswith(_ENDS)):
            cuts = parts[_ENDS + name].to_pylist()
            indexes = np.full(refinement._boxes.size, -1, np.int64)
            indexes[parts[_BOXES + name].to_numpy()] = np.arange(0, len(cuts), 2)
            refinement._bounds[read(name)] = TextBounds(zip(cuts[::2], cuts[1::2], strict=True)), indexes
        return refinement

    def _bound(self, number: int, operand: Operand, low: bytes, high: bytes) -> None:
        """Keep the ends of a side in full."""
        if operand not in self._bounds:
            self._bounds[operand] = TextBounds(), np.full(self._boxes.size, -1, np.int64)
        bounds, indexes = self._bounds[operand]
        indexes[number] = bounds.add(low, high)

    def _make_room(self, number: int) -> None:
        if number >= self._boxes.size:
            more = np.full(number + 1 - self._boxes.size + self._boxes.size // 2 + _ROOM, np.array(_NONE, _BOX))
            self._boxes = np.concatenate([self._boxes, more])
            self._bounds = {
                column: (bounds, np.concatenate([indexes, np.full(more.size, -1, np.int64)]))
                for column, (bounds, indexes) in self._bounds.items()
            }


def _close_gaps(bounds: TextBounds, indexes: Int64s) -> tuple[TextBounds, Int64s]:
    """Bounds without those that were removed, and where each box has its own."""
    used = np.flatnonzero(indexes >= 0)
    fewer = TextBounds(bounds[index] for index in indexes[used].tolist())
    indexes[used] = np.arange(0, 2 * used.size, 2)
    return fewer, indexes


def _save_residuals(residuals: Sequence[Residual]) -> dict[str, Any]:
    """Residuals by form: the texts of forms, what they read, and which form each residual has; constants as texts."""
    forms: dict[str, int] = {}
    for residual in residuals:
        forms.setdefault(residual.form, len(forms))
    columns = {residual.form: json.dumps(residual.columns) for residual in residuals}
    return {
        "forms": list(forms),
        "form_columns": [columns[form] for form in forms],
        "residual_forms": np.array([forms[residual.form] for residual in residuals], np.int64),
        "constants": [str(constant) for residual in residuals for constant in residual.constants],
    }


def _restore_residuals(parts: Mapping[str, pa.Array]) -> Iterator[Residual]:
    forms, constants = parts["forms"].to_pylist(), iter(parts["constants"].to_pylist())
    columns = [tuple(json.loads(each)) for each in parts["form_columns"].to_pylist()]
    readers = [[_READERS.get(type_.split("_")[0], int) for type_ in slots_of(form)] for form in forms]
    for form in parts["residual_forms"].to_pylist():
        yield Residual(forms[form], columns[form], tuple(read(next(constants)) for read in readers[form]))
