"""A view whose state is at work in another process.

    intake ─ push queue ─ routes ─ transactional queue ─ (other process: state) ─ pipe ─ answers

What selects, projects, looks up and folds stays beside the source, so that less has to travel.
"""

from collections.abc import Iterator, Mapping

import pyarrow as pa

from skerry.build.cut import CutView, Feed
from skerry.fjord.flow import MOST_ROWS
from skerry.fjord.module import Module
from skerry.fjord.other_process import OtherProcess
from skerry.fjord.queues.message import Advance, Message, Rows
from skerry.fjord.queues.push import PushQueue
from skerry.fjord.routes import Routes
from skerry.fjord.saved_state import ViewClock
from skerry.model.time import Micros
from skerry.operators.operator import PageChanges, StatePages

__all__ = ["RemoteFlow", "can_move"]


def can_move(view: CutView) -> bool:
    """Whether a view's state may be in another process.

    It needs no tables, spills nothing, gives nothing up, and does not begin with history.
    """
    is_plain = not {"spill_to", "backfill"} & view.view.options.keys()
    return view.stateful and not view.tables_above and view.shedding is None and is_plain


class _RemoteWork:
    """What is known here of a state that is at work elsewhere: its clock, why it stopped, what it has counted."""

    def __init__(self, view: CutView, number: int, process: OtherProcess) -> None:
        self.view, self._number, self._process = view, number, process
        self.newest: dict[str, Micros] = {}
        self.heard: dict[str, Micros] = {}
        self.failure: str | None = None
        self._figures: dict[str, int] = {}

    @property
    def failures(self) -> dict[str, str]:
        """By output, why it had to stop; nothing if it had not."""
        return dict.fromkeys(self.view.outputs, self.failure) if self.failure else {}

    def take_figures(self) -> dict[str, int]:
        """What it has counted since it was asked last."""
        found, self._figures = self._figures, {}
        return found

    def take_in(self, share: float) -> None:
        """It gives nothing up."""

    def note_account(self) -> None:
        """Take up what the other process said at the end of a step."""
        account = self._process.accounts[self._number]
        self.failure, self._figures = account["failure"], account["figures"]


class _ToOther:
    """The end of the way here: rows go into the queue, under the number that their stream has there."""

    is_full = False

    def __init__(self, number: int, process: OtherProcess, first: int) -> None:
        self._number, self._process, self._first = number, process, first

    def put(self, message: Message) -> None:
        if isinstance(message, Rows):
            self._process.put(Rows(message.batch, self._first + message.stream))
        elif isinstance(message, Advance):
            self._process.end_step(self._number, message)


class RemoteFlow:
    """One view of which the stateless part is here."""

    def __init__(self, number: int, view: CutView, tables: Mapping[str, pa.RecordBatch], process: OtherProcess) -> None:
        self.view, self._number, self._process = view, number, process
        self.work = _RemoteWork(view, number, process)
        self._inbox, self._routes = PushQueue(MOST_ROWS), Routes(view.feeds, tables)
        way = _ToOther(number, process, process.start(number, view))
        self._module = Module(self._routes, self._inbox, way)

    @property
    def is_full(self) -> bool:
        """Whether it must work before it can be handed more."""
        return self._inbox.is_full

    @property
    def is_idle(self) -> bool:
        """Never while a step goes on: what the other process does is waited for when nothing is left to do here."""
        return False

    def turn(self) -> bool:
        """Work on one message, if there is one; say whether there was."""
        return self._module.turn()

    def put(self, feed: Feed, accepted: pa.RecordBatch) -> None:
        """Hand readings to one of the feeds."""
        self._inbox.put(Rows(accepted, self.view.stream_numbers[feed.name]))

    def see(self, tables: Mapping[str, pa.RecordBatch]) -> None:
        """Go on with other versions of the tables."""
        self._routes.see(tables)

    def replace_view(self, view: CutView, tables: Mapping[str, pa.RecordBatch]) -> None:
        """Nothing: with several processes, views neither come nor go while they run."""

    def advance(self, newest: Mapping[str, Micros], heard: Mapping[str, Micros]) -> None:
        """Let the other process know how far all streams have come."""
        _note_later(self.work.newest, newest)
        _note_later(self.work.heard, heard)
        self._inbox.put(Advance(newest=newest, heard=heard))

    def restore(self, clock: ViewClock, pages: StatePages) -> None:
        """Go on with the state that another one saved."""
        self.work.newest, self.work.heard, self.work.failure = dict(clock.newest), dict(clock.heard), clock.failure
        self._process.restore(self._number, clock, pages)

    def save_clock(self) -> ViewClock | None:
        """How far its streams have come."""
        return ViewClock(dict(self.work.newest), self.work.failure, dict(self.work.heard))

    def take_changes(self) -> PageChanges:
        """What has changed of its state since it was asked last; nothing any more if it had to stop."""
        return self._process.take_changes(self._number) if self.work.failure is None else PageChanges()

    def take_answers(self) -> Iterator[tuple[str, pa.RecordBatch]]:
        """What has come out, by output, as soon as the other process is done with the step."""
        for batch in self._process.take_answers(self._number):
            yield from self.view.by_output(batch)
        self.work.note_account()


def _note_later(known: dict[str, Micros], moments: Mapping[str, Micros]) -> None:
    for source, moment in moments.items():
        known[source] = max(known.get(source, moment), moment)
