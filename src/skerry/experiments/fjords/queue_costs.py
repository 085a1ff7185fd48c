"""Section 4.1: what a message costs in each kind of queue, from a writer to a reader, in one process or in two."""

import socket
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import pyarrow as pa

from skerry.experiments.figure import Figure, Panel, Verdict
from skerry.experiments.fjords.claims import judge_true
from skerry.experiments.fjords.trace import Trace
from skerry.fjord.queues.lossy import LossyReader, LossyWriter, open_lossy
from skerry.fjord.queues.message import Rows
from skerry.fjord.queues.pipe import PipeReader, PipeWriter
from skerry.fjord.queues.pull import PullQueue
from skerry.fjord.queues.push import PushQueue
from skerry.fjord.queues.queue import Reader, Writer
from skerry.fjord.queues.transactional import TransactionalReader, TransactionalWriter

__all__ = ["measure_queues"]

_TRIALS = 3
_SYNCED, _FILES, _PIPE, _LOSSY = "transactional, synced", "transactional", "pipe", "lossy"
Ends = tuple[Writer, Reader]


def measure_queues(trace: Trace, sizes: Sequence[int]) -> Figure:
    """Time per message, by the number of readings in one."""
    rows = [row for size in sizes for row in _measure(trace, size)]
    panels = (Panel("us_per_message", "time per message, us", logarithmic=True),)
    figure = Figure("fjords_queues", "Queues: time per message", pa.Table.from_pylist(rows), "readings", panels, ())
    notes = [
        "A message is put and then read, in one process, medians of three; that of queues between processes includes "
        "Arrow IPC, the system, and a checksum. Seconds, not CPU seconds: a synced message waits for the disk.",
    ]
    return figure.with_verdicts(list(_judge(figure)), notes)


def _open(stack: ExitStack) -> Iterator[tuple[str, Ends]]:
    """Every kind, with both ends here."""
    folder = Path(stack.enter_context(TemporaryDirectory()))
    push, pull = PushQueue(), PullQueue()
    yield "push", (push, push)
    yield "pull", (pull, pull)
    for name, sockets in ((_PIPE, socket.socketpair()), (_LOSSY, open_lossy())):
        ours, theirs = map(stack.enter_context, sockets)
        yield (
            name,
            (PipeWriter(ours), PipeReader(theirs)) if name == _PIPE else (LossyWriter(ours), LossyReader(theirs)),
        )
    for name, synced in ((_FILES, False), (_SYNCED, True)):
        writer, reader = TransactionalWriter(folder / name, synced=synced), TransactionalReader(folder / name)
        stack.callback(writer.close)
        stack.callback(reader.close)
        yield name, (writer, reader)


def _measure(trace: Trace, size: int) -> Iterator[dict[str, float | str]]:
    messages = [Rows(batch) for batch in trace.read(size)]
    with ExitStack() as stack:
        for kind, (writer, reader) in _open(stack):
            times = [_time(lambda ends=(writer, reader): _pass(messages, *ends)) for _ in range(_TRIALS)]  # type: ignore[misc]
            us = round(1e6 * median(times) / len(messages), 2)
            yield {"technique": kind, "readings": size, "us_per_message": us}


def _pass(messages: Sequence[Rows], writer: Writer, reader: Reader) -> None:
    for message in messages:
        writer.put(message)
        assert reader.get() == message


def _time(work: Callable[[], None]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def _judge(figure: Figure) -> Iterator[Verdict]:
    costs = {kind: figure.line(kind, "us_per_message")[1][0] for kind in figure.techniques()}
    for kind in (_FILES, _SYNCED):
        yield judge_true(
            f"queues that may lose are more efficient than {kind} ones",
            "so",
            f"lossy {costs[_LOSSY]:.0f} us per message, {kind} {costs[kind]:.0f} us, pipe {costs[_PIPE]:.0f} us",
            costs[_LOSSY] < costs[kind],
            "files in the page cache are no slower than a socket",
        )
