"""A view in this process: its operators, and the queues between them."""

from collections.abc import Iterator, Mapping
from typing import Protocol

import pyarrow as pa

from skerry.build.cut import CutView, Feed
from skerry.fjord.queue import Advance, Queue, Rows
from skerry.fjord.saved_state import ViewClock
from skerry.fjord.scheduler import Module
from skerry.model.time import Micros
from skerry.operators.operator import PageChanges, StatePages
from skerry.pipeline.view_at_work import ViewAtWork

__all__ = ["Flow", "RunningView"]


class RunningView(Protocol):
    """A view as the runtime in this process drives it, wherever its operators are."""

    view: CutView
    work: ViewAtWork | None
    modules: list[Module]

    def put(self, feed: Feed, accepted: pa.RecordBatch) -> None:
        """Hand readings to one of the feeds."""

    def see(self, tables: Mapping[str, pa.RecordBatch]) -> None:
        """Go on with other versions of the tables."""

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
    """One view: a queue in for each of its feeds, its operators, a queue out."""

    def __init__(self, view: CutView, tables: Mapping[str, pa.RecordBatch]) -> None:
        self.view = view
        self.work = ViewAtWork(view, tables) if view.stateful else None
        self._outbox = Queue()
        self._meeting = Queue() if self.work else self._outbox
        self._inboxes = [Queue() for _ in view.feeds]
        self._routes = [
            Module(feed.build_route(tables), inbox, self._meeting, number)
            for number, (feed, inbox) in enumerate(zip(view.feeds, self._inboxes, strict=True))
        ]
        self.modules = [*self._routes, *([Module(self.work, self._meeting, self._outbox)] if self.work else [])]

    def put(self, feed: Feed, accepted: pa.RecordBatch) -> None:
        """Hand readings to one of the feeds."""
        self._inboxes[self.view.stream_numbers[feed.name]].put(Rows(accepted))

    def see(self, tables: Mapping[str, pa.RecordBatch]) -> None:
        """Go on with other versions of the tables."""
        for module, feed in zip(self._routes, self.view.feeds, strict=True):
            if feed.tables:
                module.operator = feed.build_route(tables)
        if self.work:
            self.work.see(tables)

    def advance(self, newest: Mapping[str, Micros], heard: Mapping[str, Micros]) -> None:
        """Let the part that keeps state know how far all streams have come; the others need no clock."""
        if self.work:
            for source, moment in heard.items():
                self.work.note_heard(source, moment)
            for source, moment in newest.items():
                self.work.note_newest(source, moment)
            self._meeting.put(Advance(self.work.watermark))

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
