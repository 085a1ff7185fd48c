"""The part of a view that keeps state, at work: its operator, its clock, and whether it had to stop."""

from collections.abc import Callable, Mapping

import pyarrow as pa

from skerry.build.cut import CutView
from skerry.build.table import NO_TABLES, Tables
from skerry.errors import LimitError
from skerry.model.batch import empty
from skerry.model.time import END_OF_TIME, START_OF_TIME, Micros
from skerry.operators.cascade import Cascade
from skerry.operators.operator import Chain, Operator
from skerry.pipeline.outcome import count_growth
from skerry.pipeline.watermark import watermark_of_view

__all__ = ["ViewAtWork"]


class ViewAtWork:
    """One view's operator as a runtime uses it: in process one for the view, on Spark one for each bucket.

    A view that asks for more than it is allowed stops: it gives nothing any more, and the others go on.
    """

    def __init__(self, view: CutView, tables: Tables | None = None) -> None:
        self.view = view
        self.operator: Operator = view.build_operate(tables)
        self._tables = tables or NO_TABLES
        self.newest: dict[str, Micros] = {}
        """How far its sources have come."""
        self.heard: dict[str, Micros] = {}
        """The newest reading of each source, which stays when the source is used up and time goes to its end."""
        self.failure: str | None = None
        self._counted: Mapping[str, int] = {}

    def transition(self, batch: pa.RecordBatch, stream: int = 0) -> pa.RecordBatch:
        """Take a batch of one of its streams in, give what follows from it."""
        return self._work(lambda: self.operator.transition(batch, stream))

    def advance(self, watermark: Micros) -> pa.RecordBatch:
        """Learn how far all of its streams have come, give what is settled by that."""
        if watermark >= END_OF_TIME and (newest := self._find_end()) > START_OF_TIME:
            self.operator.note_end(newest)
        return self._work(lambda: self.operator.advance(watermark))

    def see(self, tables: Tables) -> None:
        """Look answers up in other versions of the tables, if it looks them up at all."""
        if any(tables[name] is not self._tables.get(name) for name in self.view.tables_above):
            self._build_again(tables)

    def replace_view(self, view: CutView, tables: Tables) -> None:
        """Go on as a view that makes something else of the same state."""
        self.view = view
        self._build_again(tables)

    def _build_again(self, tables: Tables) -> None:
        """Put what keeps no state in place of what there was: it looks up in these tables."""
        assert isinstance(self.operator, Chain)
        self.operator.replace_rest(self.view.build_above(tables))
        if isinstance(self.operator.first, Cascade):
            self.operator.first.replace_between(self.view.build_between(tables))
        self._tables = tables

    def note_newest(self, source: str, newest: Micros) -> None:
        """Note how far a source has come. It never goes back."""
        self.newest[source] = max(self.newest.get(source, newest), newest)

    def note_heard(self, source: str, moment: Micros) -> None:
        """Note the newest reading of a source."""
        self.heard[source] = max(self.heard.get(source, moment), moment)

    def _find_end(self) -> Micros:
        """Where the readings of all streams end: there the view's knowledge does too."""
        return min(self.heard.get(feed.source.name, START_OF_TIME) for feed in self.view.clocks)

    @property
    def watermark(self) -> Micros:
        """The least of its streams'."""
        return watermark_of_view(self.view, self.newest)

    def take_in(self, share: float) -> None:
        """Let the operator know how much of what comes it can have, if it may give readings up."""
        if self.view.shedding:
            self.operator.take_in(share)

    def take_losses(self) -> tuple[str, pa.RecordBatch] | None:
        """Where it reports what it gave up, and what that is since it was asked last."""
        shedding = self.view.shedding
        lost = self.operator.losses() if shedding and self.failure is None else None
        return (shedding.loss_to, lost) if shedding and shedding.loss_to and lost else None

    def take_figures(self) -> dict[str, int]:
        """What its operators have counted since they were asked last."""
        now = dict(self.operator.figures())
        grown, self._counted = count_growth(self._counted, now), now
        return grown

    def restore(
        self,
        pages: Mapping[str, bytes],
        newest: Mapping[str, Micros],
        failure: str | None,
        heard: Mapping[str, Micros] | None = None,
    ) -> None:
        """Take over what was saved of an earlier one."""
        self.operator.restore(pages)
        self.newest, self.heard, self.failure = dict(newest), dict(heard or {}), failure
        self._counted = dict(self.operator.figures())

    @property
    def failures(self) -> dict[str, str]:
        """By output, why it had to stop; nothing if it had not."""
        return dict.fromkeys(self.view.outputs, self.failure) if self.failure else {}

    def _work(self, work: Callable[[], pa.RecordBatch]) -> pa.RecordBatch:
        if self.failure is None:
            try:
                return work()
            except LimitError as error:
                self.failure = str(error)
        return empty(self.operator.schema)
