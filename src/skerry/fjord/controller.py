"""What works in another process than the sources: the states of views, told by messages what to make and to stop.

There is one controller per process. Messages come by two queues. A pipe brings notes of what to do, and a transactional
queue the rows, so that a controller that takes the place of one that was killed is given again what that one had not
brought to an end. Answers go back by a pipe.

| note | what follows |
| --- | --- |
| ``start`` view, streams, clock; then its state | the view's operator is made, and connected to streams of the queue |
| ``begin`` position | the queue is read from there on |
| ``look`` | there is something in the queue |
| ``changes`` | what has changed of the states of all views since that was asked last |
| ``stop`` view | the view is forgotten, with its state |
"""

import pickle
import signal
import socket
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from skerry.errors import SkerryError
from skerry.fjord.queues.message import Advance, Message, Note, Rows
from skerry.fjord.queues.pipe import PipeClosed, PipeReader, PipeWriter
from skerry.fjord.queues.transactional import TransactionalReader
from skerry.operators.operator import PageChanges
from skerry.pipeline.view_at_work import ViewAtWork

__all__ = ["ANSWERS", "CHANGES", "DONE", "FAILED", "Controller", "pack_view", "unpack_blobs"]

ANSWERS, CHANGES, DONE, FAILED = "answers", "changes", "done", "failed"
"""What a controller says: whose rows come next; whose state comes next; that a step is at its end; why it gives up."""

_PLAN = "#plan"
"""Beside the pages of a view's state: the view."""
_BLOBS = pa.schema({"name": pa.string(), "blob": pa.large_binary()})


def pack_blobs(blobs: Mapping[str, bytes], stream: int = 0) -> Rows:
    """Bytes by name, such as pages of state, as rows of a queue."""
    columns = [pa.array(list(blobs), pa.string()), pa.array(list(blobs.values()), pa.large_binary())]
    return Rows(pa.RecordBatch.from_arrays(columns, schema=_BLOBS), stream)


def unpack_blobs(message: Message) -> dict[str, bytes]:
    """What ``pack_blobs`` was given."""
    assert isinstance(message, Rows)
    names, blobs = (column.to_pylist() for column in message.batch.columns)
    return dict(zip(names, blobs, strict=True))


class Controller:
    """Does what it is told, until nobody is there any more to tell it."""

    def __init__(self, folder: Path, notes: PipeReader, answers: PipeWriter) -> None:
        self._folder, self._notes, self._answers = folder, notes, answers
        self._rows: TransactionalReader | None = None
        self._views: dict[int, ViewAtWork] = {}
        self._streams: dict[int, tuple[int, int]] = {}
        """By stream of the queue, the view it goes to, and which of the view's streams it is there."""
        self._answered: dict[int, list[pa.RecordBatch]] = {}
        self._verbs: dict[str, Callable[[Mapping[str, Any]], None]] = {
            "start": self._start,
            "begin": self._begin,
            "look": lambda details: self._look(),
            "changes": self._tell_changes,
            "stop": self._stop,
        }

    @property
    def views(self) -> Sequence[int]:
        """The numbers of the views that are at work here."""
        return tuple(self._views)

    def run(self) -> None:
        """Do what notes say."""
        while True:
            try:
                note = self._notes.wait()
            except PipeClosed:
                return
            assert isinstance(note, Note)
            self._verbs[note.word](note.details)

    def _start(self, details: Mapping[str, Any]) -> None:
        found = unpack_blobs(self._notes.wait())
        number: int = details["view"]
        # Written by the process that started this one, and by no user.
        work = ViewAtWork(pickle.loads(found.pop(_PLAN)), {})
        work.restore(found, details["newest"], details["failure"], details["heard"])
        self._views[number], self._answered[number] = work, []
        for position, stream in enumerate(details["streams"]):
            self._streams[stream] = (number, position)

    def _begin(self, details: Mapping[str, Any]) -> None:
        self._rows = TransactionalReader(self._folder, details["position"])

    def _stop(self, details: Mapping[str, Any]) -> None:
        number: int = details["view"]
        del self._views[number], self._answered[number]
        self._streams = {stream: way for stream, way in self._streams.items() if way[0] != number}

    def _tell_changes(self, details: Mapping[str, Any]) -> None:
        for number, work in self._views.items():
            changes = work.operator.changes() if work.failure is None else PageChanges()
            self._answers.put(Note(CHANGES, {"view": number, "drop": list(changes.drop)}))
            self._answers.put(pack_blobs(changes.put))

    def _look(self) -> None:
        """Work on all that is in the queue."""
        assert self._rows is not None
        for message in iter(self._rows.get, None):
            if isinstance(message, Rows):
                self._take_in(message)
            else:
                assert isinstance(message, Advance)
                self._end_step(message)

    def _take_in(self, rows: Rows) -> None:
        if rows.stream in self._streams:  # else of a view that was stopped since
            number, stream = self._streams[rows.stream]
            self._keep(number, self._views[number].transition(rows.batch, stream))

    def _end_step(self, step: Advance) -> None:
        """Let all views know how far time has come, and send what they have answered in the step."""
        for number, work in self._views.items():
            for source, moment in step.heard.items():
                work.note_heard(source, moment)
            for source, moment in step.newest.items():
                work.note_newest(source, moment)
            self._keep(number, work.advance(work.watermark))
            for batch in self._answered[number]:
                self._answers.put(Rows(batch, number))
            self._answered[number] = []
        accounts = {
            str(number): {"failure": work.failure, "figures": work.take_figures()}
            for number, work in self._views.items()
        }
        self._answers.put(Note(DONE, accounts))

    def _keep(self, number: int, made: pa.RecordBatch) -> None:
        if made.num_rows:
            self._answered[number].append(made)


def pack_view(view: object, pages: Mapping[str, bytes]) -> Rows:
    """A view and its state, for a controller to start."""
    return pack_blobs({_PLAN: pickle.dumps(view), **pages})


def main() -> None:
    """Be the controller of this process: what is told comes from who started it, and ends with it."""
    for each in (signal.SIGINT, signal.SIGTERM):  # who started it is told too, and decides
        signal.signal(each, signal.SIG_IGN)
    descriptor, folder = int(sys.argv[1]), Path(sys.argv[2])
    end = socket.socket(fileno=descriptor)
    answers = PipeWriter(end)
    try:
        Controller(folder, PipeReader(end), answers).run()
    except PipeClosed:
        return
    except SkerryError as error:
        answers.put(Note(FAILED, {"text": str(error)}))
    finally:
        end.close()


if __name__ == "__main__":
    main()
