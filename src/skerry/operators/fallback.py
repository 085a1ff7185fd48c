"""Fallback: for a sensor that is silent, readings of another one under its name."""

import json
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from skerry.model.arrays import Bools, Int64s
from skerry.model.batch import empty, join
from skerry.model.time import START_OF_TIME, Micros
from skerry.operators.joins.row_store import RowStore, changes_of, restore_all, snapshot_of
from skerry.operators.operator import Operator, PageChanges, StatePages

__all__ = ["Fallback"]

_HEARD = "heard"


class Fallback(Operator):
    """Give all readings when the watermark has passed them, and copies of those that stand in for silent sensors.

    At the time of a reading, a sensor is silent if its last one, until then and at that time, is longer ago than its
    limit; before its first, the first of all readings counts for it. A reading of the first in a sensor's list that is
    not silent itself is given under the sensor's name too. So what is given follows from event times alone. State is
    the readings that the watermark has not passed, and a time per sensor that is named. Costs a sort of what is given.

    >>> schema = pa.schema({"sensor": pa.string(), "ts": pa.timestamp("us")})
    >>> fallback = Fallback(schema, "ts", "sensor", {"a": ("b",)}, {"a": 10, "b": 10})
    >>> rows = {"sensor": ["a", "b", "b"], "ts": [0, 10, 11]}
    >>> _ = fallback.transition(pa.RecordBatch.from_pydict(rows, schema))
    >>> fallback.advance(Micros(20)).column("sensor").to_pylist()
    ['a', 'b', 'a', 'b']
    """

    def __init__(
        self,
        schema: pa.Schema,
        time: str,
        sensor: str,
        stand_ins: Mapping[str, Sequence[str]],
        limits_us: Mapping[str, int],
        taken_by: str | None = None,
    ) -> None:
        self._time, self._sensor, self._stand_ins, self._limits_us = time, sensor, stand_ins, limits_us
        self._taken_by = taken_by
        self.schema = pa.schema([*schema, *([pa.field(taken_by, pa.string())] if taken_by else [])])
        self._waiting = RowStore(schema)
        self._watermark: Micros = START_OF_TIME
        self._start: int | None = None
        self._last: dict[str, int] = {}
        self._given = 0

    def transition(self, batch: pa.RecordBatch, stream: int = 0) -> pa.RecordBatch:
        """Take readings in."""
        if batch.num_rows:
            self._waiting.add(batch, self._find_times(batch))
        return empty(self.schema)

    def advance(self, watermark: Micros) -> pa.RecordBatch:
        """Give the readings before ``watermark``, and those among them that stand in for others."""
        if watermark <= self._watermark:
            return empty(self.schema)
        self._watermark = watermark
        _, rows = self._waiting.live_rows()
        passed = self._sort(rows.filter(pa.array(self._find_times(rows) < watermark)))
        self._waiting.forget(watermark)
        if not passed.num_rows:
            return empty(self.schema)
        copies = list(self._stand_in(passed))
        self._given += sum(copy.num_rows for copy in copies)
        return self._sort(join([self._mark(passed, passed.column(self._sensor)), *copies], self.schema))

    def changes(self) -> PageChanges:
        """The readings that came and went, and who was heard."""
        changes = changes_of([self._waiting], self._watermark)
        return PageChanges({**changes.put, **self._describe()}, changes.drop)

    def snapshot(self) -> StatePages:
        """All readings that wait, and who was heard."""
        return {**snapshot_of([self._waiting], self._watermark), **self._describe()}

    def restore(self, pages: StatePages) -> None:
        """Take readings over."""
        watermark = restore_all([self._waiting], {name: blob for name, blob in pages.items() if name != _HEARD})
        if watermark is not None:
            self._watermark = watermark
            self._waiting.forget(watermark)
        if _HEARD in pages:
            self._start, self._last = json.loads(pages[_HEARD])

    def figures(self) -> Mapping[str, int]:
        """How many readings stood in for others."""
        return {"stand_ins": self._given} if self._given else {}

    def _describe(self) -> StatePages:
        return {_HEARD: json.dumps([self._start, self._last], sort_keys=True).encode()}

    def _stand_in(self, passed: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """The readings that stand in for silent sensors, under their names; then note who was heard."""
        times, names = self._find_times(passed), passed.column(self._sensor)
        if self._start is None:
            self._start = int(times[0])
        heard = {name: self._list_times(name, times, names) for name in self._limits_us}
        for sensor, others in self._stand_ins.items():
            chosen = self._choose(sensor, others, heard)
            if chosen.size:
                yield self._mark(passed.take(pa.array(chosen)), pa.array([sensor] * chosen.size), is_copy=True)
        self._last |= {name: int(moments[-1]) for name, (_, moments) in heard.items() if moments.size > 1}

    def _list_times(self, name: str, times: Int64s, names: "pa.Array[pa.Scalar[pa.DataType]]") -> tuple[Int64s, Int64s]:
        """The rows of a sensor, and its times with the last before them."""
        rows = np.flatnonzero(pc.equal(names, name).fill_null(False).to_numpy(zero_copy_only=False))
        return rows, np.concatenate([[self._last.get(name, self._start)], times[rows]]).astype(np.int64)

    def _choose(self, sensor: str, others: Sequence[str], heard: Mapping[str, tuple[Int64s, Int64s]]) -> Int64s:
        """The rows that stand in for a sensor."""
        chosen = [np.empty(0, np.int64)]
        better = [sensor]
        for other in others:
            rows, moments = heard[other]
            is_needed = np.ones(rows.size, np.bool_)
            for each in better:
                is_needed &= self._is_silent(each, heard[each][1], moments[1:])
            chosen.append(rows[is_needed])
            better.append(other)
        return np.concatenate(chosen)

    def _is_silent(self, name: str, moments: Int64s, at: Int64s) -> Bools:
        """Whether a sensor, heard at some moments, is silent at others."""
        last = moments[np.maximum(np.searchsorted(moments, at, side="right") - 1, 0)]
        silent: Bools = at - last > self._limits_us[name]
        return silent

    def _mark(
        self, rows: pa.RecordBatch, names: "pa.Array[pa.Scalar[pa.DataType]]", *, is_copy: bool = False
    ) -> pa.RecordBatch:
        """Rows under the names of sensors, with the one that took them if that is asked for."""
        columns, taker = list(rows.columns), rows.column(self._sensor)
        if is_copy:
            columns[rows.schema.get_field_index(self._sensor)] = names
        return pa.RecordBatch.from_arrays([*columns, *([taker] if self._taken_by else [])], schema=self.schema)

    def _find_times(self, rows: pa.RecordBatch) -> Int64s:
        times: Int64s = rows.column(self._time).cast(pa.int64()).to_numpy(zero_copy_only=False)
        return times

    def _sort(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """By time and sensor, so that the order of arrival does not show."""
        return rows.take(pc.sort_indices(rows, [(self._time, "ascending"), (self._sensor, "ascending")]))
