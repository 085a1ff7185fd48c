"""Sessions that are given anew whenever they grow."""

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from skerry.model.batch import empty, join, pack, unpack
from skerry.model.changes import OP_FIELD
from skerry.model.session_window import SessionWindow
from skerry.model.time import Micros
from skerry.model.window import WINDOW_END, WINDOW_START
from skerry.operators.grouping import group_rows
from skerry.operators.operator import PageChanges, StatePages
from skerry.operators.revise import revise
from skerry.operators.session_aggregate import SessionAggregate
from skerry.operators.spread import Spread
from skerry.plan.fold import Fold

__all__ = ["RevisedSessions"]

_WAITING = "waiting"


class RevisedSessions(SessionAggregate):
    """Give each session that a step changed: as it was (``-``), if it was there, and as it is (``+``).

    A session that grows has another end, two that become one are both taken back. Readings of a step wait for its end.
    A session that is over is forgotten; its last row stays. State and costs are those of ``SessionAggregate``, and the
    answers of changed groups, twice.
    """

    def __init__(self, window: SessionWindow, keys: Sequence[pa.Field], folds: Sequence[Fold]) -> None:
        super().__init__(window, keys, folds)
        self.schema = pa.schema([OP_FIELD, *self._answer_schema])
        self._waiting: list[pa.RecordBatch] = []
        self._was_waiting = False

    def transition(self, batch: pa.RecordBatch, stream: int = 0) -> pa.RecordBatch:
        """Take partial sessions in."""
        if batch.num_rows:
            self._waiting.append(batch)
        return empty(self.schema)

    def advance(self, watermark: Micros) -> pa.RecordBatch:
        """Revise the sessions that the step changed; forget those that are over."""
        changed = self._revise() if self._waiting else empty(self.schema)
        self.close(watermark)
        return changed

    def changes(self) -> PageChanges:
        """The pages in which sessions have changed."""
        found = super().changes()
        gone = [_WAITING] if self._was_waiting and not self._waiting else []
        self._was_waiting = bool(self._waiting)
        return PageChanges({**found.put, **self._waiting_pages()}, [*found.drop, *gone])

    def snapshot(self) -> StatePages:
        """All open sessions."""
        return {**super().snapshot(), **self._waiting_pages()}

    def restore(self, pages: StatePages) -> None:
        """Take open sessions over."""
        super().restore({name: blob for name, blob in pages.items() if name != _WAITING})
        if _WAITING in pages:
            self._waiting, self._was_waiting = [unpack(pages[_WAITING])], True

    def redistribute(self, states: Sequence[StatePages], spread: Spread) -> Sequence[StatePages] | None:
        """All open sessions, in the pages of their buckets."""
        return None if any(_WAITING in state for state in states) else super().redistribute(states, spread)

    def _waiting_pages(self) -> dict[str, bytes]:
        return {_WAITING: pack(join(self._waiting, self._sessions.schema))} if self._waiting else {}

    def _revise(self) -> pa.RecordBatch:
        fresh, self._waiting = join(self._waiting, self._sessions.schema), []
        before = self._select_groups(self._sessions.rows, fresh)
        self._sessions.add(fresh)
        after = self._select_groups(self._sessions.rows, fresh)
        identity = [WINDOW_START, WINDOW_END, *(key.name for key in self._keys)]
        return revise(self._answer(before), self._answer(after), identity)

    def _select_groups(self, rows: pa.RecordBatch, fresh: pa.RecordBatch) -> pa.RecordBatch:
        """The rows whose keys are among the fresh ones."""
        both = join([fresh, rows], rows.schema)
        groups = group_rows([both.column(key.name) for key in self._keys], both.num_rows)
        known = int(groups.numbers[: fresh.num_rows].max()) + 1  # groups are numbered as they come
        return rows.filter(pc.less(pa.array(groups.numbers[fresh.num_rows :]), known))

    def _answer(self, sessions: pa.RecordBatch) -> pa.RecordBatch:
        return self.finish(sessions) if sessions.num_rows else empty(self._answer_schema)
