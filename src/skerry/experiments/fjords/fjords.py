"""Fjords for many queries over one stream, as Figures 5 and 6 of the paper draw them.

    one Fjord per query     scan ─ proxy ─ filter ─ answers          each in a thread of its own
    one Fjord               scan ─ proxy ─ multiplex ─┬─ filter ─ answers
                                                      └─ filter ─ answers ...

Queues, modules, gate, schedulers and filters are those of the runtime in process. The scan is pulled, as a file is;
what the proxy makes of it is pushed.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from threading import Thread

import pyarrow as pa

from skerry.build.cut import CutView, cut_view
from skerry.catalog import Catalog, Source
from skerry.experiments.fjords.trace import Trace
from skerry.fjord.module import Module, Transitions
from skerry.fjord.queues.message import Rows
from skerry.fjord.queues.pull import PullQueue
from skerry.fjord.queues.push import PushQueue
from skerry.fjord.queues.queue import Reader, Writer
from skerry.fjord.scheduler import RoundRobin
from skerry.lang.sql import Session
from skerry.model.batch import empty
from skerry.model.time import START_OF_TIME, Micros
from skerry.pipeline.gate import Gate

__all__ = [
    "AT_ONCE",
    "SOURCE",
    "Fjord",
    "Forward",
    "Proxy",
    "build_filter",
    "cut_selections",
    "find_source",
    "run_in_threads",
]

AT_ONCE = 90
"""So many readings come at once: half a second of a sensor at 180 per second."""
SOURCE = """CREATE SOURCE readings (ts TIMESTAMP, lane SMALLINT, station INT, speed DOUBLE, flow BIGINT,
    WATERMARK FOR ts AS ts) WITH (connector='file', path='readings.csv');"""


class Forward:
    """An operator that does nothing but hand on."""

    def transition(self, batch: pa.RecordBatch, stream: int = 0) -> pa.RecordBatch:
        """Give what came."""
        return batch

    def advance(self, watermark: Micros) -> pa.RecordBatch:
        """Time goes on."""
        return pa.record_batch({})


class Proxy:
    """What stands before all queries: the gate of the intake, which tells late readings from those in time."""

    def __init__(self, source: Source) -> None:
        self._gate = Gate(source, START_OF_TIME)

    def transition(self, batch: pa.RecordBatch, stream: int = 0) -> pa.RecordBatch:
        """The readings in time."""
        return self._gate.admit(batch)[0]

    def advance(self, watermark: Micros) -> pa.RecordBatch:
        """Time goes on."""
        return empty(pa.schema([]))


class _Scan:
    """Reads a trace when it is asked to."""

    def __init__(self, trace: Trace, outbox: Writer) -> None:
        self._batches, self._outbox = trace.read(AT_ONCE), outbox

    def turn(self) -> bool:
        for batch in self._batches:
            self._outbox.put(Rows(batch))
            return True
        return False


class _Multiplex:
    """An operator with several outputs: all get what comes, the same copy of it."""

    def __init__(self, inbox: Reader, outboxes: Sequence[Writer]) -> None:
        self._inbox, self._outboxes = inbox, outboxes

    def turn(self) -> bool:
        message = self._inbox.get()
        if message is None:
            return False
        for outbox in self._outboxes:
            outbox.put(message)
        return True


class Fjord:
    """One trace, read once, and any number of filters; None for a query without one."""

    def __init__(self, trace: Trace, filters: Sequence[Transitions | None]) -> None:
        self._scheduler = RoundRobin()
        scanned, passed = PullQueue(), PushQueue()
        scanned.pull_from(_Scan(trace, scanned).turn)
        self._scheduler.add(Module(Proxy(find_source()), scanned, passed))
        self.answers = [PushQueue() for _ in filters]
        inboxes = [
            answers if each is None else PushQueue() for each, answers in zip(filters, self.answers, strict=True)
        ]
        self._scheduler.add(_Multiplex(passed, inboxes))
        for each, inbox, answers in zip(filters, inboxes, self.answers, strict=True):
            if each is not None:
                self._scheduler.add(Module(each, inbox, answers))

    def run(self) -> None:
        """Work until the trace is used up."""
        self._scheduler.run()

    def count_answers(self) -> Iterator[int]:
        """How many rows each query has got. They are gone then."""
        for answers in self.answers:
            messages = iter(answers.get, None)
            yield sum(message.batch.num_rows for message in messages if isinstance(message, Rows))


def run_in_threads(fjords: Sequence[Fjord]) -> None:
    """Run each in a thread of its own, all at once."""
    threads = [Thread(target=fjord.run) for fjord in fjords]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@cache
def find_source() -> Source:
    """The stream that all queries read."""
    session = Session(Catalog.in_memory())
    session.execute(SOURCE)
    return session.catalog.sources()[0]


def cut_selections(count: int) -> list[CutView]:
    """As many queries in the style of Query 1, each with a range of speeds of its own, about half of what comes."""
    session = Session(Catalog.in_memory())
    session.execute(SOURCE)
    for number in range(count):
        least = 20 + number % 30
        where = f"speed >= {least} AND speed < {least + 25 + number // 30}"
        session.execute(f"CREATE MATERIALIZED VIEW q{number} AS SELECT * FROM readings WHERE {where};")
    return [cut_view(plan) for plan in session.plans()]


def build_filter(view: CutView) -> Transitions:
    """The operator of a query."""
    return view.feeds[0].build_route()
