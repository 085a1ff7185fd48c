"""Takes messages in as they come, brings many to disk at once, and then says so to whoever sent them.

A message that is on its way waits for at most a few milliseconds: all that came meanwhile go to disk together. When
much is waiting, ``put`` blocks, so that a sender that is too fast is slowed down and nothing piles up in memory.
"""

import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from types import TracebackType

import numpy as np
import pyarrow as pa

from skerry.errors import RunError, SkerryError
from skerry.sources.spool.doubles import Doubles, Identity
from skerry.sources.spool.heard import SpoolCounts
from skerry.sources.spool.segments import Segments
from skerry.sources.spool.unfold import Message, unfold
from skerry.sources.spool.writer import SpoolWriter, tell_time

__all__ = ["Receiver"]

_WAIT_SECONDS, _QUIET_SECONDS = 0.01, 0.2
_MOST_BYTES = 32 << 20
_FRAME_BYTES = 4 << 20
_FRAME_MESSAGES = 20_000

Done = Callable[[], None]
"""Tells a sender that a message is on disk."""


class Receiver:
    """Fills a spool from messages.

    ``longest`` is how long a message may be. ``identity`` tells which readings are doubles. ``is_listening`` says
    whether what is sent now would arrive: only then does time go on where nothing comes. ``watch`` sees what went to
    disk, with the number of doubles that did not. ``pattern`` finds the sensor in the origin of a message, for the
    counts of who was heard. ``value_column`` is the one that a message without keys fills.
    """

    def __init__(
        self,
        folder: Path,
        longest: int,
        identity: Identity,
        is_listening: Callable[[], bool] = lambda: True,
        watch: Callable[[pa.RecordBatch, int], None] | None = None,
        pattern: str | None = None,
        value_column: str | None = None,
    ) -> None:
        self._writer, self._longest, self._watch = SpoolWriter(folder), longest, watch
        self._value_column = value_column
        self._identity, self._doubles, self._is_listening = identity, Doubles(identity), is_listening
        self.counts = SpoolCounts(folder, pattern)
        """Who was heard."""
        self._recall(folder)
        self._waiting: list[tuple[Message, Done | None]] = []
        self._waiting_bytes = 0
        self._changed = threading.Condition()
        self._is_closing = False
        self._failure: SkerryError | None = None
        self.doubles = 0
        """How many readings have come before, and were left out."""
        self._thread = threading.Thread(target=self._work, name="spool", daemon=True)

    def __enter__(self) -> "Receiver":
        """Begin."""
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Bring to disk what is waiting, and stop."""
        with self._changed:
            self._is_closing = True
            self._changed.notify_all()
        self._thread.join()
        self._writer.close()

    def put(self, message: Message, done: Done | None = None) -> None:
        """Take a message in; ``done`` is called once it is on disk. Blocks while too much is waiting."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting_bytes < _MOST_BYTES or self._failure or self._is_closing)
            self.check()
            self._waiting.append((message, done))
            self._waiting_bytes += len(message.payload)
            self._changed.notify_all()

    def check(self) -> None:
        """Raise what has ended the work."""
        if self._failure is not None:
            raise self._failure

    def _work(self) -> None:
        try:
            while taken := self._take():
                count = self._keep([message for message, _ in taken])
                for _, done in taken:
                    if done:
                        done()
                count()
        except SkerryError as error:
            self._fail(error)
        except Exception as error:  # the thread ends: the run must hear of it
            self._fail(RunError(f"cannot receive: {type(error).__name__}: {error}"))

    def _fail(self, error: SkerryError) -> None:
        with self._changed:
            self._failure = error
            self._changed.notify_all()

    def _take(self) -> list[tuple[Message, Done | None]]:
        """What is waiting, after a moment in which more may come; nothing once all is done."""
        with self._changed:
            while not self._changed.wait_for(lambda: self._waiting or self._is_closing, _QUIET_SECONDS):
                if self._is_listening():
                    self._writer.note_time(tell_time())
            is_enough = self._is_closing or self._waiting_bytes >= _FRAME_BYTES
        if not is_enough:
            time.sleep(_WAIT_SECONDS)
        with self._changed:
            taken, self._waiting = self._waiting[:_FRAME_MESSAGES], self._waiting[_FRAME_MESSAGES:]
            self._waiting_bytes -= sum(len(message.payload) for message, _ in taken)
            self._changed.notify_all()
        return taken

    def _keep(self, messages: Sequence[Message]) -> Callable[[], None]:
        """Bring messages to disk. Gives what counts them: senders need not wait for that."""
        received, numbers = unfold(messages, self._longest, self._value_column)
        repeated = np.array([message.is_repeated for message in messages], np.bool_)[numbers]
        found = self._identity.compute(received)
        double = self._doubles.mark_found(found, repeated)
        count = int(double.sum())
        new = received.filter(pa.array(~double)) if count else received
        if new.num_rows:
            self._writer.append(new, messages[-1].arrived_us)
        self.doubles += count
        if self._watch:
            self._watch(new, count)
        return partial(self.counts.note, received, found, double, self._writer.count)

    def _recall(self, folder: Path) -> None:
        """Know what the spool holds from before."""
        segments = Segments(folder)
        count = segments.count()
        for frame, received in enumerate(segments.read(segments.first, count), segments.first):
            found = self._identity.compute(received)
            self._doubles.mark_found(found, np.zeros(received.num_rows, np.bool_))
            self.counts.recall(received, found, frame)
        self.counts.begin(count)
