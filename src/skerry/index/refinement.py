"""What is to be known of a box beside its sides: whose it is, and what else must be true of a reading in it."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from skerry.index.column_codes import bytes_of, is_told
from skerry.index.constants import Evaluator
from skerry.index.region import Box
from skerry.index.residual_predicates import Residuals
from skerry.index.text_bounds import Ends
from skerry.model.arrays import Bools, Int32s, Int64s

__all__ = ["Details"]


_BOX = np.dtype([("query", np.int32), ("residual", np.int32), ("special", np.bool_)])
"""Of a box: the number of its query, the place of its residual or -1, and whether more than its sides decides."""
_NONE = (-1, -1, False)
_ROOM = 1024
_ENDS, _BOXES = "ends of ", "boxes of "


class Details:
    """Of boxes by number. A box is special if its query has several, or a residual, or texts must be compared."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._boxes = np.zeros(0, _BOX)
        self._specials = 0
        self._expressions: dict[str, int] = {}
        self._ends: dict[str, tuple[Ends, Int64s]] = {}
        self._residuals = Residuals(evaluator)

    @property
    def any_special(self) -> bool:
        """Whether there is any special box."""
        return self._specials > 0

    @property
    def nbytes(self) -> int:
        """How much memory the arrays take."""
        return self._boxes.nbytes + sum(ends.nbytes + places.nbytes for ends, places in self._ends.values())

    def special(self, numbers: Int32s) -> Bools:
        """Which boxes are special."""
        return self._boxes["special"][numbers]

    def queries(self, numbers: Int32s) -> Int32s:
        """The queries that boxes belong to."""
        return self._boxes["query"][numbers]

    def add(self, number: int, box: Box, query: int, *, several: bool) -> None:
        """Know a box of a query."""
        self._make_room(number)
        untold = {column: values.spans[0] for column, values in box.sides.items() if not is_told(values)}
        for column, (low, high) in untold.items():
            ends, places = self._ends.setdefault(column, (Ends(), np.full(self._boxes.size, -1, np.int64)))
            places[number] = ends.add(low, high)
        residual = self._expressions.setdefault(box.residual, len(self._expressions)) if box.residual else -1
        special = several or bool(box.residual) or bool(untold)
        self._boxes[number] = (query, residual, special)
        self._specials += special

    def remove(self, number: int) -> None:
        """Forget a box."""
        self._specials -= int(self._boxes["special"][number])
        self._boxes[number] = _NONE
        for _, places in self._ends.values():
            places[number] = -1

    def decided(self, batch: pa.RecordBatch, rows: Int32s, numbers: Int32s) -> tuple[Int32s, Int32s]:
        """Of rows and boxes they are in, the rows and queries that are true, each pair once, in order of rows."""
        for column, (ends, places) in self._ends.items():
            kept = places[numbers] < 0
            held = ends.hold(bytes_of(batch.column(column)), rows[~kept].astype(np.int64), places[numbers[~kept]])
            kept[~kept] = held
            rows, numbers = rows[kept], numbers[kept]
        true = self._residually(batch, rows, self._boxes["residual"][numbers])
        found = np.unique(rows[true].astype(np.int64) << 32 | self.queries(numbers[true]))
        return (found >> 32).astype(np.int32), (found & 0xFFFFFFFF).astype(np.int32)

    def saved(self) -> dict[str, Any]:
        """All there is, as arrays and lists."""
        parts = {
            "queries": self._boxes["query"],
            "residuals": self._boxes["residual"],
            "specials": self._boxes["special"].astype(np.int64),
            "expressions": list(self._expressions),
        }
        for column, (ends, places) in self._ends.items():
            used = np.flatnonzero(places >= 0)
            parts |= {_ENDS + column: [cut for place in places[used].tolist() for cut in ends[place]]}
            parts |= {_BOXES + column: used}
        return parts

    @classmethod
    def restored(cls, parts: Mapping[str, pa.Array], evaluator: Evaluator) -> "Details":
        """The same again."""
        details = cls(evaluator)
        details._boxes = np.zeros(len(parts["queries"]), _BOX)
        for field, name in (("query", "queries"), ("residual", "residuals"), ("special", "specials")):
            details._boxes[field] = parts[name].to_numpy()
        details._specials = int(details._boxes["special"].sum())
        details._expressions = {text: place for place, text in enumerate(parts["expressions"].to_pylist())}
        for column in (name.removeprefix(_ENDS) for name in parts if name.startswith(_ENDS)):
            cuts = parts[_ENDS + column].to_pylist()
            places = np.full(details._boxes.size, -1, np.int64)
            places[parts[_BOXES + column].to_numpy()] = np.arange(0, len(cuts), 2)
            details._ends[column] = Ends(zip(cuts[::2], cuts[1::2], strict=True)), places
        return details

    def _make_room(self, number: int) -> None:
        if number >= self._boxes.size:
            more = np.full(number + 1 - self._boxes.size + self._boxes.size // 2 + _ROOM, np.array(_NONE, _BOX))
            self._boxes = np.concatenate([self._boxes, more])
            self._ends = {
                column: (ends, np.concatenate([places, np.full(more.size, -1, np.int64)]))
                for column, (ends, places) in self._ends.items()
            }

    def _residually(self, batch: pa.RecordBatch, rows: Int32s, residuals: Int32s) -> Bools:
        """For each pair of a row and a residual, whether it is true: all that occur are asked of all rows that do."""
        true, asked = residuals < 0, np.flatnonzero(residuals >= 0)
        if asked.size:
            needed, places = np.unique(rows[asked], return_inverse=True)
            kinds, which = np.unique(residuals[asked], return_inverse=True)
            expressions = list(self._expressions)
            found = self._residuals.decide([expressions[kind] for kind in kinds], batch.take(pa.array(needed)))
            true[asked] = np.stack(found)[which, places]
        return true
