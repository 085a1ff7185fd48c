"""One OVER clause at work: the rows of its partitions that are kept, and the answers to fresh ones."""

import numpy as np
import pyarrow as pa

from skerry.model.arrays import Bools, Int64s
from skerry.model.batch import empty
from skerry.model.time import END_OF_TIME, Micros
from skerry.operators.kept_rows import KeptRows
from skerry.operators.sorted_rows import SortedRows
from skerry.operators.window_functions import Carried, carried_fields, evaluate
from skerry.plan.over import Call, Clause

__all__ = ["OverClause"]

_ANSWERED = "_answered"


class OverClause:
    """Answers the functions of a clause for fresh rows, which must be later than all before.

    Of each partition it keeps the rows that later ones look back at, and with the last of them what functions carry on
    that go by all rows. A partition that is whole leaves nothing behind. Where functions look ahead, rows wait here.
    """

    def __init__(self, schema: pa.Schema, time: str, clause: Clause) -> None:
        self._clause, self._time, self.looks_ahead = clause, time, clause.looks_ahead
        self._carried = [field for call in clause.calls for field in carried_fields(call) if not clause.is_whole]
        used = {name for call in clause.calls for name in call.columns}
        names = {time, *clause.partition, *(key.column for key in clause.order), *used}
        fields = [field for field in schema if self.looks_ahead or field.name in names]
        self._names = [field.name for field in fields]
        flags = [pa.field(_ANSWERED, pa.bool_())] if self.looks_ahead else []
        self.kept = KeptRows(pa.schema([*fields, *flags, *self._carried]), clause.partition)
        self._schema = schema

    def answer(self, fresh: pa.RecordBatch) -> list[pa.Array]:
        """The answers of all functions for fresh rows, in the order the rows have."""
        if not fresh.num_rows:
            return [pa.array([], call.type) for call in self._clause.calls]
        rows, kept = self._sort(fresh, self.kept.pages_of(fresh))
        found, carried = self._evaluate(rows, kept)
        self._keep(rows, carried)
        back = np.empty(fresh.num_rows, np.int64)
        is_fresh = rows.is_fresh
        back[rows.order[is_fresh] - kept.num_rows] = np.flatnonzero(is_fresh)
        return [column.take(pa.array(back)) for column in found]

    def answer_settled(self, fresh: pa.RecordBatch, *, is_end: bool) -> tuple[pa.RecordBatch, list[pa.Array]]:
        """The rows behind which enough others have come, and the answers for them; at the end, all."""
        pages = np.array(list(self.kept.pages), np.int64) if is_end else np.empty(0, np.int64)
        rows, kept = self._sort(fresh, np.concatenate([pages, self.kept.pages_of(fresh)]))
        if not rows.size:
            return empty(self._schema), [pa.array([], call.type) for call in self._clause.calls]
        answered = np.zeros(rows.size, np.bool_)
        if kept.num_rows:
            flags = kept.column(_ANSWERED).to_numpy(zero_copy_only=False)
            answered[~rows.is_fresh] = flags[rows.order[~rows.is_fresh]]
        is_settled = np.ones(rows.size, np.bool_) if is_end else rows.stops - 1 - rows.positions >= self.looks_ahead
        rows.due = due = np.flatnonzero(is_settled & ~answered)
        found, _ = self._evaluate(rows, kept)
        self._keep(rows, {}, answered | is_settled)
        given = rows.rows.take(pa.array(rows.order[due]))
        return given, [column.take(pa.array(due)) for column in found]

    def forget(self, watermark: Micros) -> None:
        """Let go of rows that nobody looks back at any more, wherever half of a page may be such."""
        if watermark >= END_OF_TIME:
            self.kept.clear()
        elif self._clause.span_us and not self._clause.looks_back:
            for page, rows in list(self.kept.pages.items()):
                times = self._find_times(rows)
                if times.min() < watermark - 2 * self._clause.span_us:
                    pages = np.full(rows.num_rows, page)
                    self.kept.take(pages)
                    alive = times >= watermark - self._clause.span_us
                    self.kept.put(rows.filter(pa.array(alive)), pages[alive])

    def _sort(self, fresh: pa.RecordBatch, pages: Int64s) -> tuple[SortedRows, pa.RecordBatch]:
        kept = self.kept.take(pages)
        return SortedRows(kept.select(self._names), fresh, self._clause.partition, self._clause.order), kept

    def _evaluate(self, rows: SortedRows, kept: pa.RecordBatch) -> tuple[list[pa.Array], dict[str, pa.Array]]:
        """What all functions give for all rows, and what they would carry on from each."""
        carried = None
        if self._carried:
            last_kept = rows.fresh_starts - 1
            has_kept = last_kept >= rows.starts
            indices = np.where(has_kept, rows.order[np.maximum(last_kept, 0)], -1)
            carried = Carried(kept.select([field.name for field in self._carried]), indices)
        found: list[pa.Array] = []
        carry_on: dict[str, pa.Array] = {}
        for call in self._clause.calls:
            answers, more = evaluate(call, rows, carried)
            found.append(answers)
            carry_on |= more
        return found, carry_on

    def _keep(self, rows: SortedRows, carried: dict[str, pa.Array], answered: Bools | None = None) -> None:
        chosen = np.flatnonzero(self._mark_kept(rows))
        if not chosen.size:
            return
        is_last = np.isin(chosen, rows.last_rows, assume_unique=True)
        taken = rows.rows.select(self._names).take(pa.array(rows.order[chosen]))
        columns = list(taken.columns)
        if answered is not None:
            columns.append(pa.array(answered[chosen]))
        columns += [carried[field.name].take(pa.array(chosen, mask=~is_last)) for field in self._carried]
        batch = pa.RecordBatch.from_arrays(columns, schema=self.kept.schema)
        self.kept.put(batch, self.kept.pages_of(batch))

    def _mark_kept(self, rows: SortedRows) -> Bools:
        """The last rows of each partition, those within the span of the newest, and values behind which are NULLs."""
        clause = self._clause
        kept: Bools = rows.stops - rows.positions <= clause.looks_back + clause.looks_ahead
        if clause.span_us:
            times = rows.column(self._time).cast(pa.int64()).to_numpy()
            kept |= times >= times[rows.stops - 1] - clause.span_us
        for call in clause.calls:
            if call.function == "lag" and call.ignore_nulls and not clause.is_whole:
                kept |= _mark_last_values(call, rows)
        return kept

    def _find_times(self, rows: pa.RecordBatch) -> Int64s:
        times: Int64s = rows.column(self._time).cast(pa.int64()).to_numpy()
        return times


def _mark_last_values(call: Call, rows: SortedRows) -> Bools:
    """The last values of each partition that are not NULL."""
    assert call.argument is not None
    valid: Bools = rows.column(call.argument).is_valid().to_numpy(zero_copy_only=False)
    counted = np.concatenate([[0], np.cumsum(valid)])
    return valid & (counted[rows.stops] - counted[rows.positions] <= call.offset)
