"""A source that hands over given batches, for tests."""

from collections.abc import Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from skerry.catalog import Source
from skerry.model.batch import empty
from skerry.model.time import START_OF_TIME, Micros
from skerry.sources.arrival import cut
from skerry.sources.source import REJECTS, Connector, Decoded, Lane, Split

__all__ = ["GivenConnector"]


class _GivenLane(Lane):
    def __init__(self, name: str, units: Sequence[pa.RecordBatch], event_time: str | None) -> None:
        self.name, self._units, self._event_time = name, units, event_time

    def count(self) -> int:
        return len(self._units)

    def first(self, unit: int) -> Micros:
        return self._moment(unit, 0)

    def last(self, unit: int) -> Micros:
        return self._moment(unit, -1)

    def weight(self, unit: int) -> int:
        return self._units[unit].num_rows

    def _moment(self, unit: int, row: int) -> Micros:
        if self._event_time is None or not self._units[unit].num_rows:
            return START_OF_TIME
        return Micros(pc.cast(self._units[unit].column(self._event_time), pa.int64())[row].as_py())


class GivenConnector(Connector):
    """Lanes of units, each unit a batch."""

    def __init__(self, definition: Source, lanes: Sequence[Sequence[pa.RecordBatch]]) -> None:
        self.definition = definition
        self._given = [list(lane) for lane in lanes]

    def lanes(self) -> Sequence[Lane]:
        """One for each given."""
        return [_GivenLane(str(n), units, self.definition.event_time) for n, units in enumerate(self._given)]

    def read(self, split: Split) -> Iterator[Decoded]:
        """The given batches, cut."""
        for unit in range(split.start, split.stop):
            after = split.after if unit == split.start else None
            until = split.until if unit == split.stop - 1 else None
            batch = self._given[int(split.lane)][unit]
            yield Decoded(cut(batch, self.definition.event_time, after, until), empty(REJECTS))
