"""Another process of the same run, in which states of views are at work.

Rows go there by a transactional queue in a folder, answers come back by a pipe. With a checkpoint, a process that was
killed is replaced: the new one is given the state as it was saved last, and all that was put into the queue since. What
it answers again of steps that are done is dropped, so nothing is lost and nothing comes twice.
"""

import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa

from skerry.build.cut import CutView
from skerry.errors import RunError
from skerry.fjord.controller import CHANGES, DONE, FAILED, pack_view, unpack_blobs
from skerry.fjord.queues.message import Advance, Message, Note, Rows
from skerry.fjord.queues.pipe import PipeClosed, PipeReader, PipeWriter
from skerry.fjord.queues.transactional import TransactionalWriter
from skerry.fjord.saved_state import ViewClock
from skerry.operators.operator import PageChanges, StatePages

__all__ = ["OtherProcess", "Saved"]

Saved = Callable[[], tuple[Mapping[int, ViewClock], Mapping[int, StatePages]]]
"""What was saved last of all views, by their numbers."""
_MOST_DEATHS = 3
"""So often a process may die at the same step before the run gives up."""
_FRESH = ViewClock({})


class OtherProcess:
    """One process, its queue, and which views are at work in it. ``saved`` is None where nothing is saved."""

    def __init__(self, folder: Path, saved: Saved | None) -> None:
        self._folder, self._saved = folder, saved
        self._rows = TransactionalWriter(folder)
        self._views: dict[int, tuple[CutView, Sequence[int]]] = {}
        self._streams = 0
        self._mark = self._steps = self._steps_at_mark = self._deaths = 0
        self._open: set[int] = set()
        """The views of which the step is not at its end."""
        self._answers: dict[int, list[pa.RecordBatch]] = {}
        self.accounts: Mapping[int, Mapping[str, Any]] = {}
        """What views came to in the step: why they had to stop, and what they have counted."""
        self._changes: dict[int, PageChanges] = {}
        self._is_behind = False
        self._launch()

    def _launch(self) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            command = [sys.executable, "-m", "skerry.fjord.controller", str(theirs.fileno()), str(self._folder)]
            self._process = subprocess.Popen(command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL)
        self._connect(ours)

    def _connect(self, ours: socket.socket) -> None:
        self._end, self._notes, self._found = ours, PipeWriter(ours), PipeReader(ours)
        with suppress(PipeClosed):  # that it is gone is found out where it is waited for
            self._notes.put(Note("begin", {"position": self._mark}))

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    def start(self, number: int, view: CutView) -> int:
        """Have a view at work there from now on; give the number of its first stream."""
        first = self._streams
        self._streams += len(view.feeds)
        self._views[number] = view, range(first, self._streams)
        with suppress(PipeClosed):
            self._tell_to_start(number, _FRESH, {})
        return first

    def restore(self, number: int, clock: ViewClock, pages: StatePages) -> None:
        """Begin again with a view, and the state that was saved."""
        with suppress(PipeClosed):
            self._notes.put(Note("stop", {"view": number}))
            self._tell_to_start(number, clock, pages)

    def stop(self, number: int) -> None:
        """Forget a view, and all that there is of it."""
        del self._views[number]
        self._answers.pop(number, None)
        self._open.discard(number)
        with suppress(PipeClosed):
            self._notes.put(Note("stop", {"view": number}))

    def _tell_to_start(self, number: int, clock: ViewClock, pages: StatePages) -> None:
        view, streams = self._views[number]
        details = {"newest": clock.newest, "heard": clock.heard, "failure": clock.failure}
        self._notes.put(Note("start", {"view": number, "streams": list(streams), **details}))
        self._notes.put(pack_view(view, pages))

    def put(self, message: Rows) -> None:
        """Hand rows to a stream of a view."""
        self._rows.put(message)
        self._wake()

    def end_step(self, number: int, step: Advance) -> None:
        """One view has been given all of a step; when all have, the step is at its end."""
        self._open.add(number)
        if self._open == self._views.keys():
            self._open.clear()
            self._steps += 1
            self._is_behind = True
            self._rows.put(step)
            self._wake()

    def _wake(self) -> None:
        with suppress(PipeClosed):
            self._notes.put(Note("look"))

    def take_answers(self, number: int) -> Iterator[pa.RecordBatch]:
        """What a view has answered in the step, as soon as that is at its end."""
        while self._is_behind:
            self._look_for_end()
        yield from self._answers.pop(number, ())

    def _look_for_end(self) -> None:
        try:
            self._is_behind = not self._receive_step()
            self._deaths = 0
        except PipeClosed:
            self._replace()

    def _receive_step(self) -> bool:
        """Receive all answers of a step."""
        self._answers = {}
        while True:
            message = self._found.wait()
            if isinstance(message, Rows):
                self._answers.setdefault(message.stream, []).append(message.batch)
            else:
                accounts = _read(message, DONE).details
                self.accounts = {int(number): account for number, account in accounts.items()}
                return True

    def take_changes(self, number: int) -> PageChanges:
        """What has changed of a view's state since it was asked last.

        It is asked for all views at once: if the process dies meanwhile, all are asked of the one in its place.
        """
        while number not in self._changes:
            try:
                self._changes = self._receive_changes()
            except PipeClosed:
                self._replace()
        return self._changes.pop(number)

    def _receive_changes(self) -> dict[int, PageChanges]:
        self._notes.put(Note("changes"))
        found = {}
        for _ in self._views:
            details = _read(self._found.wait(), CHANGES).details
            found[details["view"]] = PageChanges(unpack_blobs(self._found.wait()), details["drop"])
        return found

    def note_saved(self) -> None:
        """All that was put so far is in the state that was saved."""
        self._mark, self._steps_at_mark = self._rows.count, self._steps
        self._rows.forget(self._mark)

    def _replace(self) -> None:
        """Put another process in the place of one that died."""
        status = self._process.wait()
        self._end.close()
        self._deaths += 1
        died = f"process {self._process.pid} of this run has died ({_describe(status)})"
        if self._saved is None:
            raise RunError(f"{died}; with --checkpoint, a run replaces it and goes on")
        if self._deaths > _MOST_DEATHS:
            raise RunError(f"{died}, {self._deaths} times at the same step")
        self._launch()
        clocks, pages = self._saved()
        with suppress(PipeClosed):
            for number in self._views:
                self._tell_to_start(number, clocks.get(number, _FRESH), pages.get(number, {}))
            self._notes.put(Note("look"))
            self._drop_answered(self._steps - self._steps_at_mark - self._is_behind)

    def _drop_answered(self, steps: int) -> None:
        """Receive what is answered again of steps that are done."""
        for _ in range(steps):
            self._receive_step()
        self._answers = {}

    def close(self) -> None:
        """End the process: nothing that is in it alone is needed any more."""
        self._end.close()
        self._process.kill()
        self._process.wait()
        self._rows.close()


def _read(message: Message, word: str) -> Note:
    """A note that says a word; if it says that all is over, why."""
    assert isinstance(message, Note)
    if message.word == FAILED:
        raise RunError(str(message.details["text"]))
    assert message.word == word, f"got {message.word!r} where {word!r} is to come"
    return message


def _describe(status: int) -> str:
    return f"signal {-status}" if status < 0 else f"exit code {status}"
