"""A view in this process: its operators, and the queues between them.

    intake ─ push queue ─ routes ─ pull queue ─ state ─ push queue ─ answers

The intake pushes: it goes on as long as the first queue has room, and is told when it has not. A turn of the view is
one of its last operator, which pulls: what is before it runs until there is something to work on. So the order in which
a view sees its readings is that of their arrival, whoever else has turns in between.
"""

from collections.abc import Iterator, Mapping
from typing import Protocol

import pyarrow as pa

from skerry.build.cut import CutView, Feed
from skerry.fjord.module import Module
from skerry.fjord.queues.message import Advance, Rows
from skerry.fjord.queues.pull import PullQueue
from skerry.fjord.queues.push import PushQueue
from skerry.fjord.routes import Routes
from skerry.fjord.saved_state import ViewClock
from skerry.model.time import START_OF_TIME, Micros
from skerry.operators.operator import PageChanges, StatePages
from skerry.pipeline.view_at_work import ViewAtWork

__all__ = ["MOST_ROWS", "AtWork", "Flow", "RunningView"]

MOST_ROWS = 1 << 17
"""So many readings may wait for a view before the intake has to."""


class AtWork(Protocol):
    """The part of a view that keeps state, as far as a run asks for it."""

    view: CutView

    @property
    def failures(self) -> dict[str, str]:
        """By output, why it had to stop; nothing if it had not."""

    def take_figures(self) -> dict[str, int]:
        """What it has counted since it was asked last."""

    def take_in(self, share: float) -> None:
        """Let it know how much of what comes it can have, if it may give readings up."""


class RunningView(Protocol):
    """A view as the runtime in this process drives it, wherever its operators are."""

    view: CutView

    @property
    def work(self) -> AtWork | None:
        """The part that keeps state, if there is one."""

    @property
    def is_full(self) -> bool:
        """Whether it must work before it can be handed more."""

    @property
    def is_idle(self) -> bool:
        """Whether it has worked on all that it was handed."""

    def turn(self) -> bool:
        """Work on one message, if there is one; say whether there was."""

    def put(self, feed: Feed, accepted: pa.RecordBatch) -> None:
        """Hand readings to one of the feeds."""

    def see(self, tables: Mapping[str, pa.RecordBatch]) -> None:
        """Go on with other versions of the tables."""

    def replace_view(self, view: CutView, tables: Mapping[str, pa.RecordBatch]) -> None:
        """Go on as a view that makes something else of the same state."""

    def advance(self, newest: Mapping[str, Micros], heard: Mapping[str, Micros]) -> None:
        """Learn how far all streams have come."""

    def restore(self, clock: ViewClock, pages: StatePages) -> None:
        """Go on with the state that another one saved."""

    def save_clock(self) -> ViewClock | None:
        """How far its streams have come, if it keeps state."""

    def take_changes(self) -> PageChanges:
        """What has changed of its state since it was asked last."""

    def take_answers(self) -> Iterator[tuple[str, pa.RecordBatch]]:
        """What has come out, and what was lost, by output."""


class Flow:
    """One view in this process."""

    def __init__(self, view: CutView, tables: Mapping[str, pa.RecordBatch]) -> None:
        self.view = view
        self.work = ViewAtWork(view, tables) if view.stateful else None
        self._inbox, self._outbox = PushQueue(MOST_ROWS), PushQueue()
        self._routes = Routes(view.feeds, tables)
        self._top = self._connect()

    def _connect(self) -> Module:
        if self.work is None:
            return Module(self._routes, self._inbox, self._outbox)
        meeting = PullQueue()
        meeting.pull_from(Module(self._routes, self._inbox, meeting).turn)
        return Module(self.work, meeting, self._outbox)

    @property
    def is_full(self) -> bool:
        """Whether it must work before it can be handed more."""
        return self._inbox.is_full

    @property
    def is_idle(self) -> bool:
        """Whether it has worked on all that it was handed."""
        return not len(self._inbox)

    def turn(self) -> bool:
        """Work on one message, if there is one; say whether there was."""
        return self._top.turn()

    def put(self, feed: Feed, accepted: pa.RecordBatch) -> None:
        """Hand readings to one of the feeds."""
        self._inbox.put(Rows(accepted, self.view.stream_numbers[feed.name]))

    def see(self, tables: Mapping[str, pa.RecordBatch]) -> None:
        """Go on with other versions of the tables."""
        self._routes.see(tables)
        if self.work:
            self.work.see(tables)

    def replace_view(self, view: CutView, tables: Mapping[str, pa.RecordBatch]) -> None:
        """Go on as a view that makes something else of the same state."""
        self.view = view
        if self.work:
            self.work.replace_view(view, tables)

    def advance(self, newest: Mapping[str, Micros], heard: Mapping[str, Micros]) -> None:
        """Let the part that keeps state know how far all streams have come; the others need no clock."""
        watermark = START_OF_TIME
        if self.work:
            for source, moment in heard.items():
                self.work.note_heard(source, moment)
            for source, moment in newest.items():
                self.work.note_newest(source, moment)
            watermark = self.work.watermark
        self._inbox.put(Advance(watermark))

    def restore(self, clock: ViewClock, pages: StatePages) -> None:
        """Go on with the state that another one saved."""
        if self.work:
            self.work.restore(pages, clock.newest, clock.failure, clock.heard)

    def save_clock(self) -> ViewClock | None:
        """How far its streams have come, if it keeps state."""
        return ViewClock(dict(self.work.newest), self.work.failure, dict(self.work.heard)) if self.work else None

    def take_changes(self) -> PageChanges:
        """What has changed of its state since it was asked last; nothing any more if it had to stop."""
        return self.work.operator.changes() if self.work and self.work.failure is None else PageChanges()

    def take_answers(self) -> Iterator[tuple[str, pa.RecordBatch]]:
        """What has come out, and what was lost, by output."""
        for message in iter(self._outbox.get, None):
            if isinstance(message, Rows):
                yield from self.view.by_output(message.batch)
        if self.work and (lost := self.work.take_losses()):
            yield lost
