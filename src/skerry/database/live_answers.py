"""Answers as they come, for threads that wait for them."""

from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from threading import Condition

import pyarrow as pa

from skerry.errors import RunError, WaitTimeout
from skerry.sinks.sink import Sink

__all__ = ["LiveAnswers"]


class LiveAnswers(Sink):
    """Keeps the newest answers of each output, and wakes those who wait for more. Another sink may take all of them.

    One thread writes, others read. A batch that is written again changes nothing. Of each output the newest
    ``keep_rows`` rows are kept, in whole batches: a reader that falls behind further than that is told so.
    """

    def __init__(self, keep_rows: int, beside: Sink | None = None) -> None:
        self._keep_rows, self.beside = keep_rows, beside
        self._changed = Condition()
        self._kept: dict[str, _Kept] = {}
        self._schemas: dict[str, pa.Schema] = {}
        self._is_open, self._has_ended = False, False

    def claim(self, run: str, batches: int) -> None:
        """Only what is written beside can outlive a crash."""
        if self.beside:
            self.beside.claim(run, batches)

    def last_batch(self, outputs: Collection[str]) -> int:
        """What the other sink says."""
        return self.beside.last_batch(outputs) if self.beside else -1

    def open(self, outputs: Mapping[str, pa.Schema], *, resume: bool) -> None:
        """From here on there may be answers."""
        if self.beside:
            self.beside.open(outputs, resume=resume)
        with self._changed:
            self._schemas |= outputs
            self._is_open = True
            self._changed.notify_all()

    def begin_outputs(self, outputs: Mapping[str, pa.Schema], number: int) -> None:
        """There may be answers of these too, and what was kept under these names is forgotten."""
        if self.beside:
            self.beside.begin_outputs(outputs, number)
        with self._changed:
            self._schemas |= outputs
            for output in outputs:
                self._kept.pop(output, None)
            self._changed.notify_all()

    def write(self, output: str, number: int, rows: pa.RecordBatch, parts: Sequence[int] = ()) -> None:
        """Keep the rows; forget the oldest if there are too many."""
        if self.beside:
            self.beside.write(output, number, rows, parts)
        with self._changed:
            if self._kept.setdefault(output, _Kept()).add(number, rows, self._keep_rows):
                self._changed.notify_all()

    def settle(self) -> None:
        """Wait for the other sink."""
        if self.beside:
            self.beside.settle()

    def close(self) -> None:
        """All answers are written."""
        if self.beside:
            self.beside.close()

    def end(self) -> None:
        """The run is over, however it ended: nobody is to wait any longer."""
        with self._changed:
            self._has_ended = True
            self._changed.notify_all()

    def has(self, output: str) -> bool:
        """Whether the run gives such an output."""
        return output in self._schemas or output in self._kept

    def wait_until_open(self) -> bool:
        """Whether the run has begun, as soon as it has; False if it was over before."""
        with self._changed:
            self._changed.wait_for(lambda: self._is_open or self._has_ended)
            return self._is_open

    def wait(self, output: str, row_count: int, timeout_s: float | None) -> pa.Table:
        """The answers that are kept, once there have been so many; or all there are, if the run is over before."""
        with self._changed:
            enough = self._changed.wait_for(lambda: self._has_ended or self._count(output) >= row_count, timeout_s)
            if not enough:
                counts = f"{self._count(output)} of the {row_count} rows that were waited for"
                raise WaitTimeout(f"{output!r} has {counts}, after", timeout_s, "s")
            kept = self._kept.get(output, _Kept())
            schema = self._schemas.get(output, pa.schema([]))
            return pa.Table.from_batches(
                [rows for _, rows in kept.batches], kept.batches[0][1].schema if kept.batches else schema
            )

    def follow(self, output: str) -> Iterator[pa.RecordBatch]:
        """The batches that are kept, and then all others as they come, until the run is over."""
        given = 0
        while True:
            with self._changed:
                self._changed.wait_for(lambda given=given: self._has_ended or self._count(output) > given)  # type: ignore[misc]
                kept = self._kept.get(output, _Kept())
                if given and kept.batches and kept.batches[0][0] > given:
                    missed = kept.batches[0][0] - given
                    raise RunError(
                        f"{missed} rows of {output!r} came and went before they were read: read faster, "
                        f"or start with keep_rows above {self._keep_rows}"
                    )
                fresh = [rows for first, rows in kept.batches if first >= given]
                given = kept.row_count
            if not fresh:
                return
            yield from fresh

    def _count(self, output: str) -> int:
        return self._kept[output].row_count if output in self._kept else 0


class _Kept:
    """The newest batches of an output, each with the number of the rows before it."""

    def __init__(self) -> None:
        self.batches: deque[tuple[int, pa.RecordBatch]] = deque()
        self.row_count = 0
        self._last = -1

    def add(self, number: int, rows: pa.RecordBatch, most_rows: int) -> bool:
        """Take a batch, unless it is known or empty; say whether it was taken."""
        if number <= self._last or not rows.num_rows:
            return False
        self._last = number
        self.batches.append((self.row_count, rows))
        self.row_count += rows.num_rows
        while len(self.batches) > 1 and self.row_count - self.batches[1][0] >= most_rows:
            self.batches.popleft()
        return True
