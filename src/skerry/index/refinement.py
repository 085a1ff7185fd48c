"""Refinement of matches: the query that a box belongs to, and what else must be true of a reading in the box."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from skerry.index.column_codes import bytes_of, is_exact
from skerry.index.constants import Evaluator
from skerry.index.region import Box
from skerry.index.residual_predicates import Residuals
from skerry.index.text_bounds import TextBounds
from skerry.model.arrays import Bools, Int32s, Int64s

__all__ = ["Refinement"]


_BOX = np.dtype([("query", np.int32), ("residual", np.int32), ("special", np.bool_)])
"""Of a box: the number of its query, the index of its residual or -1, and whether more than its sides decides."""
_NONE = (-1, -1, False)
_ROOM = 1024
_ENDS, _BOXES = "ends of ", "boxes of "


class Refinement:
    """Boxes by number. A box is special if its query has several, or a residual, or if texts must be compared."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._boxes = np.zeros(0, _BOX)
        self._specials = 0
        self._expressions: dict[str, int] = {}
        self._bounds: dict[str, tuple[TextBounds, Int64s]] = {}
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

    def add(self, number: int, box: Box, query: int, *, several: bool) -> None:
        """Add a box of a query."""
        self._make_room(number)
        inexact = {column: values.spans[0] for column, values in box.sides.items() if not is_exact(values)}
        for column, (low, high) in inexact.items():
            bounds, indexes = self._bounds.setdefault(column, (TextBounds(), np.full(self._boxes.size, -1, np.int64)))
            indexes[number] = bounds.add(low, high)
        residual = self._expressions.setdefault(box.residual, len(self._expressions)) if box.residual else -1
        special = several or bool(box.residual) or bool(inexact)
        self._boxes[number] = (query, residual, special)
        self._specials += special

    def remove(self, number: int) -> None:
        """Remove a box."""
        self._specials -= int(self._boxes["special"][number])
        self._boxes[number] = _NONE
        for _, indexes in self._bounds.values():
            indexes[number] = -1

    def refine(self, batch: pa.RecordBatch, rows: Int32s, numbers: Int32s) -> tuple[Int32s, Int32s]:
        """Of rows and boxes they are in, the rows and queries that are true, each pair once, in order of rows."""
        for column, (bounds, indexes) in self._bounds.items():
            kept = indexes[numbers] < 0
            held = bounds.contain(bytes_of(batch.column(column)), rows[~kept].astype(np.int64), indexes[numbers[~kept]])
            kept[~kept] = held
            rows, numbers = rows[kept], numbers[kept]
        true = self._decide_residuals(batch, rows, self._boxes["residual"][numbers])
        found = np.unique(rows[true].astype(np.int64) << 32 | self.queries_of(numbers[true]))
        return (found >> 32).astype(np.int32), (found & 0xFFFFFFFF).astype(np.int32)

    def save(self) -> dict[str, Any]:
        """All there is, as arrays and lists."""
        parts = {
            "queries": self._boxes["query"],
            "residuals": self._boxes["residual"],
            "specials": self._boxes["special"].astype(np.int64),
            "expressions": list(self._expressions),
        }
        for column, (bounds, indexes) in self._bounds.items():
            used = np.flatnonzero(indexes >= 0)
            parts |= {_ENDS + column: [cut for index in indexes[used].tolist() for cut in bounds[index]]}
            parts |= {_BOXES + column: used}
        return parts

    @classmethod
    def restore(cls, parts: Mapping[str, pa.Array], evaluator: Evaluator) -> "Refinement":
        """Rebuild what ``save`` gave."""
        refinement = cls(evaluator)
        refinement._boxes = np.zeros(len(parts["queries"]), _BOX)
        for field, name in (("query", "queries"), ("residual", "residuals"), ("special", "specials")):
            refinement._boxes[field] = parts[name].to_numpy()
        refinement._specials = int(refinement._boxes["special"].sum())
        refinement._expressions = {text: index for index, text in enumerate(parts["expressions"].to_pylist())}
        for column in (name.removeprefix(_ENDS) for name in parts if name.startswith(_ENDS)):
            cuts = parts[_ENDS + column].to_pylist()
            indexes = np.full(refinement._boxes.size, -1, np.int64)
            indexes[parts[_BOXES + column].to_numpy()] = np.arange(0, len(cuts), 2)
            refinement._bounds[column] = TextBounds(zip(cuts[::2], cuts[1::2], strict=True)), indexes
        return refinement

    def _make_room(self, number: int) -> None:
        if number >= self._boxes.size:
            more = np.full(number + 1 - self._boxes.size + self._boxes.size // 2 + _ROOM, np.array(_NONE, _BOX))
            self._boxes = np.concatenate([self._boxes, more])
            self._bounds = {
                column: (bounds, np.concatenate([indexes, np.full(more.size, -1, np.int64)]))
                for column, (bounds, indexes) in self._bounds.items()
            }

    def _decide_residuals(self, batch: pa.RecordBatch, rows: Int32s, residuals: Int32s) -> Bools:
        """For each pair of a row and a residual, whether it is true: all that occur are asked of all rows that do."""
        true, asked = residuals < 0, np.flatnonzero(residuals >= 0)
        if asked.size:
            needed, indexes = np.unique(rows[asked], return_inverse=True)
            kinds, which = np.unique(residuals[asked], return_inverse=True)
            expressions = list(self._expressions)
            found = self._residuals.decide([expressions[kind] for kind in kinds], batch.take(pa.array(needed)))
            true[asked] = np.stack(found)[which, indexes]
        return true
