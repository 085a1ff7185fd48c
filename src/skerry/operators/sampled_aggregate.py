"""Window aggregates that know which samples to expect: nothing happened differs from nothing arrived."""

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from skerry.errors import LimitError
from skerry.kernels.folds.group import Groups
from skerry.model.arrays import Int64s
from skerry.model.batch import empty, join
from skerry.model.time import END_OF_TIME, Micros
from skerry.model.window import Window
from skerry.operators.accumulators import Accumulator
from skerry.operators.aggregate import WindowAggregate
from skerry.operators.expected_samples import SampleRates, number_groups, sum_over_intervals
from skerry.operators.grouping import group_rows
from skerry.operators.known_sensors import KnownSensors
from skerry.operators.operator import Operator, PageChanges, StatePages
from skerry.operators.partial_aggregate import SLICE, accumulators_of, partial_schema
from skerry.operators.spread import Spread
from skerry.plan.fold import Fold

__all__ = ["SampledAggregate"]

_KNOWN = "known/"
"""What the names of the pages with known sensors begin with."""
_MOST_ROWS = 10_000_000


class SampledAggregate(Operator):
    """Give one row per window and group as ``WindowAggregate`` does, with the samples expected and received.

    Received are the different times of each sensor, so that a double does not make a window look complete. Expected
    are the samples of all sensors that the group knows: those heard in it within ``forget_us`` before the window, or in
    it. With ``silent_rows`` a group has a row for each window in which it knows a sensor, as far as the readings of the
    stream go (``note_end``). All this follows from event times alone.

    State is that of a window aggregate by group and sensor, with the times of samples, and the known sensors.
    ``sample_folds`` are those of the plan's node: the times of samples, the first, the last.
    """

    def __init__(
        self,
        window: Window,
        keys: Sequence[pa.Field],
        sensor: pa.Field,
        folds: Sequence[Fold],
        sample_folds: Sequence[Fold],
        rates: SampleRates,
        forget_us: int,
        *,
        silent_rows: bool,
        schema: pa.Schema,
    ) -> None:
        self._window, self._keys, self._sensor, self._rates = window, tuple(keys), sensor, rates
        self._silent_rows, self.schema = silent_rows, schema
        self._accumulators = accumulators_of(folds)
        self._samples = accumulators_of(sample_folds)
        self._by_sensor = WindowAggregate(window, [*keys, sensor], [*folds, *sample_folds])
        self._by_group = WindowAggregate(window, keys, folds)  # merges and finishes; holds nothing
        self._partial_schema = partial_schema(self._keys, self._accumulators)
        self._known = KnownSensors(window, [*keys, sensor], forget_us)
        self._end: Micros = END_OF_TIME

    def transition(self, batch: pa.RecordBatch, stream: int = 0) -> pa.RecordBatch:
        """Take partial rows by sensor in."""
        self._by_sensor.transition(batch)
        _, first, last = (batch.column(each.name) for each in self._samples)
        self._known.hear(batch, first, last)
        return empty(self.schema)

    def note_end(self, newest: Micros) -> None:
        """No window is silent that starts after the newest reading of the stream."""
        self._end = newest

    def advance(self, watermark: Micros) -> pa.RecordBatch:
        """Close the windows that end until ``watermark``."""
        closed = self._by_sensor.closed
        if watermark <= closed:
            return empty(self.schema)
        samples = self._by_sensor.close(watermark)
        rows = samples.select(self._partial_schema.names)
        rows = self._by_group.merge(rows) if rows.num_rows else rows
        if self._silent_rows:
            rows = join([rows, self._find_silent(rows, closed, watermark)], self._partial_schema)
        answers = self._finish(rows, samples) if rows.num_rows else empty(self.schema)
        self._known.forget(watermark)
        return answers

    def changes(self) -> PageChanges:
        """Those of the windows and of the known sensors."""
        windows, known = self._by_sensor.changes(), self._known.changes()
        put = {**windows.put, **_add_prefix(known.put)}
        return PageChanges(put, [*windows.drop, *(f"{_KNOWN}{name}" for name in known.drop)])

    def snapshot(self) -> StatePages:
        """All windows that are open, and all known sensors."""
        return {**self._by_sensor.snapshot(), **_add_prefix(self._known.snapshot())}

    def restore(self, pages: StatePages) -> None:
        """Take windows and sensors over."""
        windows, known = _split_pages(pages)
        self._by_sensor.restore(windows)
        self._known.restore(known)

    def redistribute(self, states: Sequence[StatePages], spread: Spread) -> Sequence[StatePages]:
        """Windows and sensors, in the pages of their buckets."""
        windows, known = zip(*map(_split_pages, states), strict=True)
        both = zip(self._by_sensor.redistribute(windows, spread), self._known.redistribute(known, spread), strict=True)
        return [{**mine, **_add_prefix(sensors)} for mine, sensors in both]

    def figures(self) -> Mapping[str, int]:
        """How many sensors were silent for so long that they are not expected any more."""
        return {"sensors_forgotten": self._known.forgotten} if self._known.forgotten else {}

    def _find_silent(self, rows: pa.RecordBatch, closed: Micros, watermark: Micros) -> pa.RecordBatch:
        """Partial rows of the windows that closed without a reading of a group, though it knows a sensor."""
        until = min(watermark - self._window.size_us, self._end)
        starts, sessions = self._known.list_windows(closed - self._window.size_us, until, _MOST_ROWS)
        if starts is None:
            message = f"more than {_MOST_ROWS:,} windows are silent at once; take longer windows or a shorter"
            raise LimitError(f"{message} forget_after, or leave silent_rows out")
        heads = [pa.array(starts), *(self._known.rows.column(key.name).take(sessions) for key in self._keys)]
        both = [pa.concat_arrays([rows.column(number), head]) for number, head in enumerate(heads)]
        first = group_rows(both, rows.num_rows + starts.size).first
        chosen = pa.array(first[first >= rows.num_rows] - rows.num_rows)
        nothing = [_fold_nothing(each, len(chosen)) for each in self._accumulators]
        return pa.RecordBatch.from_arrays(
            [*(head.take(chosen) for head in heads), *nothing], self._partial_schema.names
        )

    def _finish(self, rows: pa.RecordBatch, samples: pa.RecordBatch) -> pa.RecordBatch:
        """Answers from the partial rows of groups, and those of their sensors."""
        names = self._partial_schema.names[: 1 + len(self._keys)]
        rows = rows.take(pc.sort_indices(rows, [(name, "ascending") for name in names]))
        expected, is_known = self._expect(rows)
        received, counted = self._count_received(rows, samples)
        share = counted / np.maximum(expected, 1)
        columns = [
            pa.array(expected, mask=~is_known),
            pa.array(received),
            pa.array(share, mask=~is_known | (expected == 0)),
        ]
        return pa.RecordBatch.from_arrays([*self._by_group.finish(rows).columns, *columns], schema=self.schema)

    def _expect(self, rows: pa.RecordBatch) -> tuple[Int64s, np.ndarray]:
        """How many samples the known sensors should have sent; and whether that is known of all of them."""
        sensors, names = self._known.rows, [key.name for key in self._keys]
        mine, theirs = ([batch.column(name) for name in names] for batch in (rows, sensors))
        asked, groups = number_groups(mine, theirs, rows.num_rows, sensors.num_rows)
        due, known = self._rates.count_due(sensors.column(self._sensor.name), self._window.size_us)
        starts = rows.column(SLICE).to_numpy()
        intervals = groups, *self._known.intervals()
        expected = sum_over_intervals(*intervals, due, asked, starts)
        return expected, sum_over_intervals(*intervals, (~known).astype(np.int64), asked, starts) == 0

    def _count_received(self, rows: pa.RecordBatch, samples: pa.RecordBatch) -> tuple[Int64s, Int64s]:
        """The different samples of each group; and these, of no sensor more than it should send."""
        names, sensor = self._partial_schema.names[: 1 + len(self._keys)], samples.column(self._sensor.name)
        mine, theirs = ([batch.column(name) for name in names] for batch in (rows, samples))
        asked, groups = number_groups(mine, theirs, rows.num_rows, samples.num_rows)
        each = pc.list_value_length(samples.column(self._samples[0].name)).to_numpy().astype(np.int64)
        each = np.where(sensor.is_valid().to_numpy(zero_copy_only=False), each, 0)
        due, _ = self._rates.count_due(sensor, self._window.size_us)
        sums = np.zeros((2, int(asked.max()) + 1), np.int64)
        np.add.at(sums[0], groups, each)
        np.add.at(sums[1], groups, np.minimum(each, due))
        return sums[0][asked], sums[1][asked]


def _fold_nothing(accumulator: Accumulator, count: int) -> pa.Array:
    """What an accumulator remembers of groups without rows."""
    if accumulator.argument is None:
        return pa.array(np.zeros(count, np.int64))
    numbers = np.arange(count)
    return accumulator.fold(pa.nulls(count, accumulator.values_type), Groups(numbers, numbers))


def _add_prefix(pages: StatePages) -> dict[str, bytes]:
    return {f"{_KNOWN}{name}": blob for name, blob in pages.items()}


def _split_pages(pages: StatePages) -> tuple[dict[str, bytes], dict[str, bytes]]:
    """The pages of windows, and those of known sensors under their own names."""
    known = {name.removeprefix(_KNOWN): blob for name, blob in pages.items() if name.startswith(_KNOWN)}
    return {name: blob for name, blob in pages.items() if not name.startswith(_KNOWN)}, known
