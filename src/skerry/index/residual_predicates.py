"""What boxes cannot express: predicates that DuckDB decides, on the readings that are in a box already.

Residuals of one form are asked together: a row for each pair of a reading and a residual, the constants in columns.
Residuals whose form nobody shares are asked together as the branches of one CASE, each of its own rows alone. One that
fails on a reading is not true for it, and takes nothing from the others.
"""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import duckdb
import numpy as np
import pyarrow as pa

from skerry.index.ask_duckdb import ask_duckdb, ask_where_possible, join_in_duckdb
from skerry.index.constants import Evaluator
from skerry.index.region import Residual, name_slot, slots_of
from skerry.index.residual_template import arrow_type
from skerry.model.arrays import Bools, Int32s, Int64s

__all__ = ["Residuals"]

_TOGETHER = 64
"""How many forms without slots are asked in one statement."""
_BRANCH = "$branch"
_DENSE = 1.5
"""A residual is asked of all readings if these are at the most so many times those that it must be asked of."""
_MOST_CELLS = 2**24
_ALTERNATIVES = re.compile(r"\b(?:OR|NOT|CASE|COALESCE)\b", re.IGNORECASE)
"""In a form with such a word, a part that fails may fail the whole in a column and not in a WHERE."""
_ROW, _INDEX = "$row", "$index"


class _FormResiduals:
    """The residuals of one form: their constants in columns, and how many boxes have each."""

    def __init__(self, form: str, columns: Sequence[str]) -> None:
        self.form, self.columns = form, tuple(columns)
        self.types = slots_of(form)
        self.constants: list[list[object]] = [[] for _ in self.types]
        self.counts: list[int] = []
        self.are_shared = False
        """Whether several boxes have had the same."""
        self._indexes: dict[tuple[object, ...], int] = {}
        self._free: list[int] = []
        self._arrays: list[pa.Array] | None = None

    def add(self, constants: tuple[object, ...]) -> int:
        """Note that a box has these constants; their index."""
        index = self._indexes.get(constants)
        if index is None:
            index = self._free.pop() if self._free else self._lengthen()
            self._indexes[constants] = index
            for column, value in zip(self.constants, constants, strict=True):
                column[index] = value
            self._arrays = None
        self.counts[index] += 1
        self.are_shared |= self.counts[index] > 1
        return index

    def remove(self, index: int) -> bool:
        """Note that a box is gone; whether the form has no more residuals."""
        self.counts[index] -= 1
        if not self.counts[index]:
            del self._indexes[self.constants_at(index)]
            for column in self.constants:
                column[index] = None
            self._free.append(index)
        return not self._indexes

    def constants_at(self, index: int) -> tuple[object, ...]:
        """The constants at an index."""
        return tuple(column[index] for column in self.constants)

    def take(self, batch: pa.RecordBatch, rows: Int32s, indexes: Int32s) -> pa.RecordBatch:
        """Readings and residuals side by side: the columns that the form reads, and its slots."""
        taken = batch.select(self.columns or batch.schema.names[:1]).take(pa.array(rows))
        for name, array in self._list_slots().items():
            taken = taken.append_column(name, array.take(pa.array(indexes)))
        return taken

    def join(self, batch: pa.RecordBatch, rows: Int32s, indexes: Int32s, evaluator: Evaluator) -> tuple[Int64s, Int64s]:
        """The positions of rows and of indexes for which the form is true."""
        readings = batch.select(self.columns).take(pa.array(rows))
        readings = readings.append_column(_ROW, pa.array(np.arange(rows.size)))
        slots = pa.record_batch({_INDEX: np.arange(indexes.size)})
        for name, array in self._list_slots().items():
            slots = slots.append_column(name, array.take(pa.array(indexes)))
        found = join_in_duckdb(self.form, [_ROW, _INDEX], readings, slots, evaluator)
        return found[0].to_numpy(), found[1].to_numpy()

    def _list_slots(self) -> dict[str, pa.Array]:
        """The constants by slot."""
        if self._arrays is None:
            typed = zip(self.constants, self.types, strict=True)
            self._arrays = [pa.array(column, arrow_type(type_)) for column, type_ in typed]
        names = [name_slot(number, type_)[1:-1] for number, type_ in enumerate(self.types)]
        return dict(zip(names, self._arrays, strict=True))

    def _lengthen(self) -> int:
        for column in self.constants:
            column.append(None)
        self.counts.append(0)
        return len(self.counts) - 1


class Residuals:
    """Residuals under numbers. Equal ones have one number; one that no box has any more is forgotten.

    >>> rows = pa.record_batch({"speed": [10, 0], "plate": ["7", "x"]})
    >>> residuals = Residuals(duckdb.connect)
    >>> numbers = [residuals.add(Residual(sql, ("speed", "plate"))) for sql in ("speed > 5", "CAST(plate AS INT) = 7")]
    >>> residuals.decide(rows, np.array([0, 1, 0, 1], np.int32), np.repeat(numbers, 2)).tolist()
    [True, False, True, False]
    """

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator = evaluator
        self._forms: dict[str, int] = {}
        self._by_number: dict[int, _FormResiduals] = {}
        self._next_form = 0
        self._ids = np.zeros((0, 2), np.int32)
        """Of each number, the form and the index in it."""
        self._numbers: dict[tuple[int, int], int] = {}
        self._free: list[int] = []
        self._failing: set[str] = set()

    def add(self, residual: Residual) -> int:
        """Add what a box has left; its number."""
        form = self._forms.get(residual.form)
        if form is None:
            form = self._forms[residual.form] = self._next_form
            self._next_form += 1
            self._by_number[form] = _FormResiduals(residual.form, residual.columns)
        key = form, self._by_number[form].add(residual.constants)
        if key not in self._numbers:
            self._numbers[key] = self._free.pop() if self._free else self._lengthen()
            self._ids[self._numbers[key]] = key
        return self._numbers[key]

    def remove(self, number: int) -> None:
        """Note that one of the boxes that have it is gone."""
        form, index = self._ids[number].tolist()
        residuals = self._by_number[form]
        is_empty = residuals.remove(index)
        if not residuals.counts[index]:
            del self._numbers[form, index]
            self._free.append(number)
        if is_empty:
            del self._by_number[form], self._forms[residuals.form]
            self._failing.discard(residuals.form)

    def __getitem__(self, number: int) -> Residual:
        """What has a number."""
        form, index = self._ids[number].tolist()
        found = self._by_number[form]
        return Residual(found.form, found.columns, found.constants_at(index))

    def decide(self, batch: pa.RecordBatch, rows: Int32s, numbers: Int64s) -> Bools:
        """For each pair of a reading and a residual, whether it is true."""
        true = np.zeros(rows.size, np.bool_)
        pairs = _group(self._ids[numbers, 0])
        single = [form for form in pairs if not self._by_number[form].types and self._is_sound(form)]
        for first in range(0, len(single), _TOGETHER):
            some = {form: pairs.pop(form) for form in single[first : first + _TOGETHER]}
            chosen = np.concatenate(list(some.values()))
            true[chosen] = self._decide_branches(batch, rows, some)
        for form, chosen in pairs.items():
            true[chosen] = self._decide_form(batch, rows[chosen], self._ids[numbers[chosen], 1], form)
        return true

    def _is_sound(self, form: int) -> bool:
        return self._by_number[form].form not in self._failing

    def _decide_form(self, batch: pa.RecordBatch, rows: Int32s, indexes: Int32s, form: int) -> Bools:
        """One form on its pairs: residuals that most readings meet are asked of all, the others pair by pair."""
        residuals, true = self._by_number[form], np.zeros(rows.size, np.bool_)
        is_met = (np.bincount(indexes) * _DENSE >= np.count_nonzero(np.bincount(rows)))[indexes]
        found = None
        if is_met.any() and self._is_sound(form) and not _ALTERNATIVES.search(residuals.form):
            found = self._decide_grid(batch, residuals, rows[is_met], indexes[is_met])
        if found is not None:
            true[is_met] = found
        left = np.flatnonzero(~is_met) if found is not None else np.arange(rows.size)
        if left.size:
            true[left] = self._decide_pairs(batch, residuals, rows[left], indexes[left])
        return true

    def _decide_pairs(self, batch: pa.RecordBatch, residuals: _FormResiduals, rows: Int32s, indexes: Int32s) -> Bools:
        """Each pair once, however many boxes have it."""
        if residuals.are_shared:
            pairs, which = np.unique(rows.astype(np.int64) << 32 | indexes, return_inverse=True)
            rows, indexes = (pairs >> 32).astype(np.int32), (pairs & 0xFFFFFFFF).astype(np.int32)
            return self._ask_pairs(batch, residuals, rows, indexes)[which]
        return self._ask_pairs(batch, residuals, rows, indexes)

    def _ask_pairs(self, batch: pa.RecordBatch, residuals: _FormResiduals, rows: Int32s, indexes: Int32s) -> Bools:
        """A form with slots. Where it fails it is asked with literals, which DuckDB may rewrite so that it does not."""
        table = residuals.take(batch, rows, indexes)
        if residuals.form not in self._failing:
            try:
                return _to_bools(ask_duckdb([residuals.form], table, self._evaluator)[0])
            except duckdb.Error:
                self._failing.add(residuals.form)
        true = self._ask(residuals.form, table)
        succeeded = ask_where_possible(f"({residuals.form}) IS NULL", table, self._evaluator)
        failed = np.arange(rows.size) if succeeded is None else np.flatnonzero(succeeded.is_null())
        for index in np.unique(indexes[failed]).tolist():
            chosen = failed[indexes[failed] == index]
            literal = Residual(residuals.form, residuals.columns, residuals.constants_at(index)).sql
            true[chosen] = self._ask(literal, table.take(pa.array(chosen)))
        return true

    def _decide_grid(
        self, batch: pa.RecordBatch, residuals: _FormResiduals, rows: Int32s, indexes: Int32s
    ) -> Bools | None:
        """The same, by asking all these readings of all these constants, joined in DuckDB; None if that fails."""
        grid = _Grid.of(rows, indexes)
        found = np.zeros(grid.size, np.bool_)
        step = max(_MOST_CELLS // grid.indexes.size, 1)
        for first in range(0, grid.rows.size, step):
            try:
                held, true = residuals.join(batch, grid.rows[first : first + step], grid.indexes, self._evaluator)
            except duckdb.Error:
                return None
            found[(first + held) * grid.indexes.size + true] = True
        return found[grid.find(rows, indexes)]

    def _decide_branches(self, batch: pa.RecordBatch, rows: Int32s, some: Mapping[int, Int64s]) -> Bools:
        """Forms without slots, each on its own rows."""
        names = {name for form in some for name in self._by_number[form].columns}
        branches = np.repeat(np.arange(len(some)), [chosen.size for chosen in some.values()])
        taken = batch.select([name for name in batch.schema.names if name in names] or batch.schema.names[:1])
        table = taken.take(pa.array(rows[np.concatenate(list(some.values()))]))
        table = table.append_column(_BRANCH, pa.array(branches))
        texts = [self._by_number[form].form for form in some]
        cases = " ".join(f"WHEN {branch} THEN ({text})" for branch, text in enumerate(texts))
        try:
            return _to_bools(ask_duckdb([f'CASE "{_BRANCH}" {cases} END'], table, self._evaluator)[0])
        except duckdb.Error:
            parts = [table.filter(pa.array(branches == branch)) for branch in range(len(texts))]
            return np.concatenate([self._ask(text, part) for text, part in zip(texts, parts, strict=True)])

    def _ask(self, expression: str, table: pa.RecordBatch) -> Bools:
        """Whether an expression is true of each row. One that has failed is asked row by row from then on."""
        if expression not in self._failing:
            try:
                return _to_bools(ask_duckdb([expression], table, self._evaluator)[0])
            except duckdb.Error:
                self._failing.add(expression)
        found = ask_where_possible(expression, table, self._evaluator)
        return np.zeros(table.num_rows, np.bool_) if found is None else _to_bools(found)

    def _lengthen(self) -> int:
        used = len(self._numbers) + len(self._free)
        if used == len(self._ids):
            self._ids = np.concatenate([self._ids, np.zeros((used + 64, 2), np.int32)])
        return used


class _Grid(NamedTuple):
    """The rows and the indexes that occur in pairs, each once."""

    rows: Int32s
    indexes: Int32s

    @classmethod
    def of(cls, rows: Int32s, indexes: Int32s) -> "_Grid":
        """Those of some pairs."""
        return cls(*(np.flatnonzero(np.bincount(some)).astype(np.int32) for some in (rows, indexes)))

    @property
    def size(self) -> int:
        """How many pairs there can be."""
        return self.rows.size * self.indexes.size

    def find(self, rows: Int32s, indexes: Int32s) -> Int64s:
        """Where pairs stand if all are written row by row."""
        return np.searchsorted(self.rows, rows) * self.indexes.size + np.searchsorted(self.indexes, indexes)


def _group(kinds: Int32s) -> dict[int, Int64s]:
    """Where each kind occurs."""
    if kinds.size and (kinds == kinds[0]).all():
        return {int(kinds[0]): np.arange(kinds.size)}
    order = np.argsort(kinds, kind="stable")
    known, firsts = np.unique(kinds[order], return_index=True)
    return dict(zip(known.tolist(), np.split(order, firsts[1:]), strict=True))


def _to_bools(found: pa.Array) -> Bools:
    """NULL is not true."""
    return found.fill_null(False).to_numpy(zero_copy_only=False)
