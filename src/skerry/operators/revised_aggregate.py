"""Aggregates that are given anew at every change: running groups, and windows before they are over."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from skerry.errors import LimitError
from skerry.model.arrays import Bools, Int64s
from skerry.model.batch import empty, join, pack, unpack
from skerry.model.changes import OP_FIELD
from skerry.model.landmark import Landmark
from skerry.model.time import END_OF_TIME, START_OF_TIME, Micros
from skerry.model.types import TIMESTAMP
from skerry.model.window import GroupWindow, Window
from skerry.operators.accumulators import Count
from skerry.operators.folds import finish
from skerry.operators.grouping import group_rows
from skerry.operators.kept_rows import KeptRows
from skerry.operators.operator import Operator, PageChanges, StatePages
from skerry.operators.partial_aggregate import SLICE, partial_schema
from skerry.operators.partial_revisions import accumulators_for
from skerry.operators.revise import revise
from skerry.operators.signed_accumulators import Signed
from skerry.operators.spread import Spread
from skerry.plan.fold import Fold

__all__ = ["MOST_GROUPS", "RevisedAggregate"]

MOST_GROUPS = 10_000_000
"""How many groups one bucket keeps, at most."""
_CLOCK, _WAITING, _GROUPS = "clock", "waiting", "groups/"


class RevisedAggregate(Operator):
    """Give the row of each group that a step changed: the old one as taken back (``-``), the new one as true (``+``).

    Partial rows of a step wait for its end, so a group is revised once per step. Groups of a window are forgotten when
    the watermark has passed its end: their last row stays. Groups without a window are kept for ever. With
    ``is_signed`` the rows below come and go, and a group whose rows are all gone goes too. Without ``gives_changes``
    a row is given once: when its window, or the input, is over.

    State is one row of accumulators per group, in pages by the hash of the keys; a save writes the pages that changed.
    What was given last is computed from the accumulators as they were, so it need not be kept. Costs a pass over the
    pages that a step touches, and the answers of the groups that it changes, twice.
    """

    def __init__(
        self,
        window: GroupWindow | None,
        keys: Sequence[pa.Field],
        folds: Sequence[Fold],
        *,
        is_signed: bool = False,
        gives_changes: bool = True,
    ) -> None:
        self._window, self._keys, self._folds = window, tuple(keys), tuple(folds)
        self._is_signed, self._gives_changes = is_signed, gives_changes
        self._accumulators = accumulators_for(folds, is_signed=is_signed)
        self._partial_schema = partial_schema(self._keys, self._accumulators)
        self._identity = [SLICE, *(key.name for key in self._keys)]
        names = window.columns if window else ()
        fields = [*self._keys, *(pa.field(fold.name, fold.type) for fold in self._folds)]
        self._answer_schema = pa.schema([*(pa.field(name, TIMESTAMP) for name in names), *fields])
        self.schema = pa.schema([OP_FIELD, *self._answer_schema]) if gives_changes else self._answer_schema
        self._kept = KeptRows(self._partial_schema, [key.name for key in self._keys])
        self._waiting: list[pa.RecordBatch] = []
        self._was_waiting = False
        self._closed: Micros = START_OF_TIME
        self._first_end = END_OF_TIME

    def transition(self, batch: pa.RecordBatch, stream: int = 0) -> pa.RecordBatch:
        """Take partial rows in."""
        if batch.num_rows:
            self._waiting.append(batch)
        return empty(self.schema)

    def advance(self, watermark: Micros) -> pa.RecordBatch:
        """Revise what the step changed, and let go of what is over."""
        changed = self._revise() if self._waiting else empty(self.schema)
        if watermark <= self._closed:
            return changed
        over = self._close(watermark)
        self._closed = watermark
        return changed if self._gives_changes else over

    def changes(self) -> PageChanges:
        """The pages in which groups have come, changed or gone."""
        kept = self._kept.changes()
        gone = [_WAITING] if self._was_waiting and not self._waiting else []
        self._was_waiting = bool(self._waiting)
        put = {_GROUPS + name: blob for name, blob in kept.put.items()}
        return PageChanges({**put, **self._clock_pages()}, [*(_GROUPS + name for name in kept.drop), *gone])

    def snapshot(self) -> StatePages:
        """All groups."""
        return {**{_GROUPS + name: blob for name, blob in self._kept.snapshot().items()}, **self._clock_pages()}

    def restore(self, pages: StatePages) -> None:
        """Take groups over."""
        self._kept.restore({name.removeprefix(_GROUPS): pages[name] for name in pages if name.startswith(_GROUPS)})
        if _WAITING in pages:
            self._waiting, self._was_waiting = [unpack(pages[_WAITING])], True
        if _CLOCK in pages:
            self._closed = Micros(int(pages[_CLOCK]))
        self._first_end = min(map(self._find_first_end, self._kept.pages.values()), default=END_OF_TIME)

    def redistribute(self, states: Sequence[StatePages], spread: Spread) -> Sequence[StatePages] | None:
        """All groups, in the pages of their buckets."""
        if any(_WAITING in state for state in states):
            return None
        clock = {_CLOCK: max((state[_CLOCK] for state in states), key=int)}
        groups = [
            {name.removeprefix(_GROUPS): blob for name, blob in state.items() if name != _CLOCK} for state in states
        ]
        return [
            {**{_GROUPS + name: blob for name, blob in pages.items()}, **clock}
            for pages in self._kept.redistribute(groups, spread)
        ]

    def _clock_pages(self) -> dict[str, bytes]:
        waiting = {_WAITING: pack(join(self._waiting, self._partial_schema))} if self._waiting else {}
        return {_CLOCK: str(self._closed).encode(), **waiting}

    def _revise(self) -> pa.RecordBatch:
        """Merge what waits into its groups; what that changed."""
        fresh, self._waiting = self._merge(self._lay(join(self._waiting, self._partial_schema))), []
        pages = self._kept.pages_of(fresh)
        before, others = self._part(self._kept.take(pages), fresh)
        after = self._merge(join([before, fresh], self._partial_schema))
        after = after.filter(pa.array(self._mark_there(after)))
        left = join([others, after], self._partial_schema)
        self._kept.put(left, self._kept.pages_of(left))
        self._first_end = min(self._first_end, self._find_first_end(after))
        if sum(rows.num_rows for rows in self._kept.pages.values()) > MOST_GROUPS:
            raise LimitError(f"a view keeps more than {MOST_GROUPS:,} groups; group by less, or within TUMBLE")
        return self._answer_changes(before, after)

    def _answer_changes(self, before: pa.RecordBatch, after: pa.RecordBatch) -> pa.RecordBatch:
        if not self._gives_changes:
            return empty(self.schema)
        identity = [field.name for field in self._answer_schema][: len(self._answer_schema) - len(self._folds)]
        return revise(self._finish(before), self._finish(after), identity)

    def _lay(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Rows with the starts of the windows they are in, in place of their slices; not of windows that are over."""
        if not isinstance(self._window, Window):
            return rows
        size, slide, origin = self._window.size_us, self._window.slide_us, self._window.origin_us
        slices = rows.column(SLICE).to_numpy()
        newest, laid = (slices - origin) // slide * slide + origin, []
        for back in range(0, size, slide):
            starts = newest - back
            chosen = np.flatnonzero((starts + size > slices) & (starts + size > self._closed))
            laid.append(rows.take(pa.array(chosen)).set_column(0, SLICE, pa.array(starts[chosen])))
        return join(laid, self._partial_schema)

    def _part(self, rows: pa.RecordBatch, fresh: pa.RecordBatch) -> tuple[pa.RecordBatch, pa.RecordBatch]:
        """The rows whose groups are among the fresh ones, and the others."""
        both = join([fresh, rows], self._partial_schema)
        numbers = group_rows([both.column(name) for name in self._identity], both.num_rows).numbers
        touched = pa.array(numbers[fresh.num_rows :] < fresh.num_rows)  # groups are numbered as they come
        return rows.filter(touched), rows.filter(pc.invert(touched))

    def _merge(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """One row for each window and group."""
        groups = group_rows([rows.column(name) for name in self._identity], rows.num_rows)
        first = pa.array(groups.first)
        heads = [rows.column(name).take(first) for name in self._identity]
        columns = [each.merge(rows.column(each.name), groups) for each in self._accumulators]
        return pa.RecordBatch.from_arrays([*heads, *columns], schema=self._partial_schema)

    def _mark_there(self, rows: pa.RecordBatch) -> Bools:
        """Which groups have rows."""
        if not self._is_signed:
            return np.ones(rows.num_rows, np.bool_)
        counts: Int64s = rows.column(Count(None).name).to_numpy()
        assert (counts >= 0).all(), "a row is taken back that was not there"
        return counts > 0

    def _find_first_end(self, rows: pa.RecordBatch) -> Micros:
        """When the first window of rows is over."""
        if not rows.num_rows or not isinstance(self._window, Window):
            return END_OF_TIME
        return Micros(int(rows.column(SLICE).to_numpy().min()) + self._window.size_us)

    def _close(self, watermark: Micros) -> pa.RecordBatch:
        """Let go of what is over at a watermark; give it, if it was not given before."""
        if self._first_end > watermark or (watermark < END_OF_TIME and not isinstance(self._window, Window)):
            return empty(self.schema)
        pages = [page for page, rows in self._kept.pages.items() if self._mark_over(rows, watermark).any()]
        taken = self._kept.take(np.array(pages, np.int64))
        over = self._mark_over(taken, watermark)
        stays = taken.filter(pa.array(~over))
        self._kept.put(stays, self._kept.pages_of(stays))
        self._first_end = min(map(self._find_first_end, self._kept.pages.values()), default=END_OF_TIME)
        return empty(self.schema) if self._gives_changes else self._in_order(self._finish(taken.filter(pa.array(over))))

    def _mark_over(self, rows: pa.RecordBatch, watermark: Micros) -> Bools:
        if not isinstance(self._window, Window):  # it is over when the input is
            return np.full(rows.num_rows, not self._gives_changes)
        over: Bools = rows.column(SLICE).to_numpy() + self._window.size_us <= watermark
        return over

    def _in_order(self, answers: pa.RecordBatch) -> pa.RecordBatch:
        names = self._answer_schema.names[: len(self._answer_schema) - len(self._folds)]
        if not names or not answers.num_rows:
            return answers
        return answers.take(pc.sort_indices(answers, [(name, "ascending") for name in names]))

    def _finish(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """The answers of groups."""
        if not rows.num_rows:
            return empty(self._answer_schema)
        starts, times = rows.column(SLICE), []
        if isinstance(self._window, Window):
            times = [starts.cast(TIMESTAMP), pc.add(starts, self._window.size_us).cast(TIMESTAMP)]
        elif isinstance(self._window, Landmark):
            times = [pa.array(np.full(rows.num_rows, self._window.start_us)).cast(TIMESTAMP)]
        remembered = {
            each.name: each.settle(rows.column(each.name)) if isinstance(each, Signed) else rows.column(each.name)
            for each in self._accumulators
        }
        keys = [rows.column(key.name) for key in self._keys]
        answers = [finish(fold, remembered) for fold in self._folds]
        return pa.RecordBatch.from_arrays([*times, *keys, *answers], schema=self._answer_schema)
