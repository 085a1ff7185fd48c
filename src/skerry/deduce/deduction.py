"""A rule program as an operator: facts come as readings; the answer at a tick is the model of what the windows hold."""

import heapq
import json
from collections import ChainMap
from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from skerry.deduce.engine import Engine
from skerry.model.arrays import Int64s
from skerry.model.batch import empty, join
from skerry.model.time import START_OF_TIME, Micros
from skerry.model.types import TIMESTAMP
from skerry.operators.joins.row_store import RowStore
from skerry.operators.joins.saved_rows import spread_store
from skerry.operators.operator import Operator, PageChanges, StatePages
from skerry.operators.spread import Spread
from skerry.plan.facts import TICK, Facts

__all__ = ["Deduction", "next_tick"]


_CLOCK = "clock"


def next_tick(moments: Int64s, slide_us: int) -> Int64s:
    """The first tick, a multiple of the slide, that is not before each moment.

    >>> next_tick(np.array([-11, 0, 1]), 10)
    array([-10,   0,  10])
    """
    return -(-moments // slide_us) * slide_us


class Deduction(Operator):
    """Keep a rule program's answers true while facts come and leave their windows.

    A fact that holds from ``t`` counts at the first tick, a multiple of the slide, that is not before ``t``, and leaves
    at the first tick that is further from ``t`` than its window. Ticks are made up for when the watermark has
    passed them, one after the other; those at which nothing comes or leaves are skipped. So answers depend
    neither on batches nor on the order of arrival. A fact without a time counts from the first tick on; if it comes
    later than that, as the rest of a long table may, from the next.

    What is saved are the facts that have not left yet, by stream; the model is made from them again. Costs what
    the engine's ticks cost.
    """

    def __init__(self, facts: Sequence[Facts], engine: Engine, predicate: str, mode: str, slide_us: int) -> None:
        self._facts, self._engine, self._predicate, self._mode = tuple(facts), engine, predicate, mode
        self._slide_us = slide_us
        columns = engine.schema(predicate)
        self.schema = pa.schema([pa.field("_ts", TIMESTAMP), pa.field("_op", pa.string()), *columns])
        self._stores = [RowStore(each.stored_schema) for each in self._facts]
        self._waiting: list[list[pa.RecordBatch]] = [[] for _ in self._facts]
        self._moments: list[int] = []
        self._closed: int = START_OF_TIME
        self._last: int = START_OF_TIME

    def transition(self, batch: pa.RecordBatch, stream: int = 0) -> pa.RecordBatch:
        """Keep facts until their tick."""
        if batch.num_rows:
            facts = self._facts[stream]
            starts = facts.starts(batch)
            ticks = self._ticks(starts)
            rows = pa.RecordBatch.from_arrays([*batch.columns, pa.array(ticks)], schema=facts.stored_schema)
            self._stores[stream].add(rows, facts.ends(starts))
            self._expect(facts, starts, ticks)
            self._waiting[stream].append(rows)
        return empty(self.schema)

    def advance(self, watermark: Micros) -> pa.RecordBatch:
        """Go through the ticks before ``watermark``."""
        if watermark <= self._closed:
            return empty(self.schema)
        self._closed = watermark
        waiting = [self._by_tick(stream) for stream in range(len(self._facts))]
        given = []
        while self._moments and self._moments[0] < watermark:
            now = heapq.heappop(self._moments)
            if now > self._last:
                given.append(self._tick(now, waiting))
        for store in self._stores:
            store.forget(self._last)
        return join(given, self.schema)

    def changes(self) -> PageChanges:
        """The chunks of facts that are new, merged or gone, and how far time has come."""
        put, drop = {_CLOCK: self._clock()}, list[str]()
        for stream, store in enumerate(self._stores):
            changed = store.changes()
            put |= {f"{stream}/{name}": blob for name, blob in changed.put.items()}
            drop += [f"{stream}/{name}" for name in changed.drop]
        return PageChanges(put, drop)

    def snapshot(self) -> StatePages:
        """All facts that have not left, and how far time has come."""
        pages = {_CLOCK: self._clock()}
        for stream, store in enumerate(self._stores):
            pages |= {f"{stream}/{name}": blob for name, blob in store.snapshot().items()}
        return pages

    def restore(self, pages: StatePages) -> None:
        """Take facts over, and make the model of those that count already."""
        if _CLOCK not in pages:
            return
        self._closed, self._last = json.loads(pages[_CLOCK])
        counted_facts: dict[str, pa.RecordBatch] = {}
        for stream, (facts, store) in enumerate(zip(self._facts, self._stores, strict=True)):
            own = f"{stream}/"
            store.restore({name.removeprefix(own): blob for name, blob in pages.items() if name.startswith(own)})
            rows = store.live_rows()[1]
            ticks = rows.column(TICK).to_numpy()
            self._expect(facts, facts.starts(rows), ticks)
            counted = ticks <= self._last
            counted_facts[facts.predicate] = facts.of(rows.filter(pa.array(counted)))
            self._waiting[stream] = [rows.filter(pa.array(~counted))]
        if self._last > START_OF_TIME:
            self._engine.tick_batches(self._last, counted_facts)

    def redistribute(self, states: Sequence[StatePages], spread: Spread) -> Sequence[StatePages]:
        """All facts by the bucket of their host. Ticks at which nothing happened in a bucket are past in it as well."""
        clocks = [json.loads(state[_CLOCK]) for state in states]
        closed, last = (max(moments) for moments in zip(*clocks, strict=True))
        clock = {_CLOCK: json.dumps([closed, last]).encode()}
        stores = [spread_store(states, f"{stream}/", last, spread, stream) for stream in range(len(self._facts))]
        return [clock | dict(ChainMap(*parts)) for parts in zip(*stores, strict=True)]

    def figures(self) -> Mapping[str, int]:
        """What the engine has counted."""
        return self._engine.figures()

    def _clock(self) -> bytes:
        return json.dumps([self._closed, self._last]).encode()

    def _ticks(self, moments: Int64s) -> Int64s:
        """The first tick that is not before each moment, nor behind those that have been."""
        first = (
            START_OF_TIME + 1 if self._last == START_OF_TIME else (self._last // self._slide_us + 1) * self._slide_us
        )
        return np.where(moments <= START_OF_TIME, first, next_tick(moments, self._slide_us))

    def _expect(self, facts: Facts, starts: Int64s, ticks: Int64s) -> None:
        """Note when something will happen."""
        moments = [ticks]
        if facts.window_us is not None:
            moments.append((facts.ends(starts) // self._slide_us + 1) * self._slide_us)
        for moment in np.unique(np.concatenate(moments)).tolist():
            heapq.heappush(self._moments, moment)

    def _by_tick(self, stream: int) -> dict[int, pa.RecordBatch]:
        """The facts that wait, by the tick at which they begin to count; those of later ticks go on waiting."""
        facts = self._facts[stream]
        rows = join(self._waiting[stream], facts.stored_schema)
        ticks = rows.column(TICK).to_numpy()
        ready = ticks < self._closed
        self._waiting[stream] = [rows.filter(pa.array(~ready))]
        order = np.argsort(ticks[ready], kind="stable")
        moments, firsts = np.unique(ticks[ready][order], return_index=True)
        sorted_rows = facts.of(rows.filter(pa.array(ready)).take(pa.array(order)))
        counts = np.diff(firsts, append=order.size)
        spans = zip(moments.tolist(), firsts.tolist(), counts.tolist(), strict=True)
        return {moment: sorted_rows.slice(first, count) for moment, first, count in spans}

    def _tick(self, now: int, waiting: Sequence[Mapping[int, pa.RecordBatch]]) -> pa.RecordBatch:
        self._last = now
        come: dict[str, list[pa.RecordBatch]] = {}
        for facts, by_tick in zip(self._facts, waiting, strict=True):
            if now in by_tick:
                come.setdefault(facts.predicate, []).append(by_tick[now])
        changed = self._engine.tick_batches(now, {name: join(rows, rows[0].schema) for name, rows in come.items()})
        nothing = empty(self._engine.schema(self._predicate))
        inserted, deleted = changed.get(self._predicate, (nothing, nothing))
        if self._mode == "snapshot":
            inserted = self._engine.batch(self._predicate) if inserted.num_rows or deleted.num_rows else nothing
        changes = [self._mark(now, "+", inserted)]
        if self._mode == "changes":
            changes.insert(0, self._mark(now, "-", deleted))
        return join(changes, self.schema)

    def _mark(self, now: int, sign: str, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Rows with their tick and sign, in an order that does not depend on how the model came about."""
        if rows.num_rows > 1 and rows.num_columns:
            rows = rows.take(pc.sort_indices(rows, [(name, "ascending") for name in rows.schema.names]))
        moments = pa.array(np.full(rows.num_rows, now), pa.int64()).cast(TIMESTAMP)
        signs = pa.array([sign], pa.string()).take(pa.array(np.zeros(rows.num_rows, np.int64)))
        return pa.RecordBatch.from_arrays([moments, signs, *rows.columns], schema=self.schema)
