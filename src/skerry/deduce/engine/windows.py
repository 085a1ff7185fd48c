"""Which base facts leave: by time, or by how many came after them."""

import heapq
from collections import deque

import numpy as np

from skerry.deduce.engine.relation import NEW, Relation
from skerry.model.arrays import Int64s
from skerry.plan.program import Predicate, in_units

__all__ = ["Window"]

_LEAST = -(2**63)


class Window:
    """The facts of a base predicate, in the order in which they will leave.

    Facts that came together are kept together, sorted by time; the runs stand in a heap. A fact that was deleted
    meanwhile stays in its run and is passed over. Costs one heap operation per run, and nothing per fact that stays.
    """

    def __init__(self, relation: Relation, predicate: Predicate, unit: int) -> None:
        self._relation, self._time, self._rows = relation, predicate.time, predicate.window_rows
        self._span = None if predicate.window_us is None else in_units(predicate.window_us, unit)
        self._runs: list[tuple[int, int, Int64s, Int64s]] = []
        self._arrivals: deque[tuple[Int64s, Int64s]] = deque()
        self._count = 0

    def keep_recent(self, codes: Int64s, now: int | None) -> Int64s:
        """The facts, less those that are too old to come in."""
        if now is None or self._span is None or self._time is None:
            return codes
        return codes[codes[:, self._time] >= max(now - self._span, _LEAST)]

    def take_expired(self, now: int | None) -> Int64s:
        """The facts that are too old now."""
        if now is None or self._span is None:
            return np.empty(0, np.int64)
        oldest, found = max(now - self._span, _LEAST), [np.empty(0, np.int64)]
        while self._runs and self._runs[0][0] < oldest:
            _, number, times, rows = heapq.heappop(self._runs)
            cut = int(np.searchsorted(times, oldest))
            found.append(self._still(rows[:cut], times[:cut]))
            if cut < rows.size:
                heapq.heappush(self._runs, (int(times[cut]), number, times[cut:], rows[cut:]))
        return np.unique(np.concatenate(found))

    def insert(self, codes: Int64s) -> Int64s:
        """Put facts in, in the order of arrival; those that were not there."""
        arrivals = np.arange(self._count, self._count + len(codes))
        self._count += len(codes)
        rows = self._relation.insert(codes, arrivals)
        if self._span is not None and self._time is not None and rows.size:
            times = self._relation.codes[rows, self._time]
            order = np.argsort(times, kind="stable")
            heapq.heappush(self._runs, (int(times[order[0]]), self._count, times[order], rows[order]))
        if self._rows is not None:
            self._arrivals.append((self._relation.ranks[rows], rows))
        return rows

    def take_excess(self) -> Int64s:
        """The oldest facts beyond the number that is kept."""
        if self._rows is None:
            return np.empty(0, np.int64)
        found, excess = [np.empty(0, np.int64)], self._relation.size - self._rows
        while excess > 0:
            arrivals, rows = self._arrivals.popleft()
            there = (self._relation.ranks[rows] == arrivals) & ((self._relation.states[rows] & NEW) != 0)
            arrivals, rows = arrivals[there], rows[there]
            found.append(rows[:excess])
            if rows.size > excess:
                self._arrivals.appendleft((arrivals[excess:], rows[excess:]))
            excess -= rows.size
        return np.concatenate(found)

    def _still(self, rows: Int64s, times: Int64s) -> Int64s:
        """Those rows that are there and are still the facts that they were."""
        there = (self._relation.states[rows] & NEW) != 0
        return rows[there & (self._relation.codes[rows, self._time] == times)]
