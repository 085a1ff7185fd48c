"""From what was received to readings: keys to columns, levels of a topic to columns, times, and what does not fit."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from skerry.catalog import Source
from skerry.model.arrays import Bools
from skerry.model.batch import join
from skerry.sources.ahead import AheadLimit
from skerry.sources.dead_letters import make_dead_letters, show_line
from skerry.sources.epoch_times import count_since_1970
from skerry.sources.file.conform import Column
from skerry.sources.file.generated import conform_source
from skerry.sources.file.jsonl import NO_OBJECT, extract_texts
from skerry.sources.source import REJECTS, Decoded
from skerry.sources.spool.origins import match_origins

__all__ = ["Decoder"]


@dataclass(frozen=True)
class Decoder:
    """Decodes what a source has received.

    ``pattern`` finds columns in the origin, by the names of its groups: they go before keys of the same name.
    ``time_unit`` is the unit of event times that are numbers since 1970. ``is_arrival_time`` says that a reading
    without an event time gets that of its arrival.
    """

    definition: Source
    pattern: str | None = None
    time_unit: str | None = None
    is_arrival_time: bool = False

    def decode(self, received: pa.RecordBatch) -> Decoded:
        """Readings in the order in which they came, and the dead letters among them."""
        problems = received.filter(pc.is_valid(received.column("problem")))
        sound = received.filter(pc.is_null(received.column("problem")))
        fits, texts = extract_texts(sound.column("line"), self.definition.stored_schema)
        objects = sound.filter(pa.array(fits))
        found = conform_source(self._complete(texts, objects), self.definition)
        is_fit = np.ones(objects.num_rows, np.bool_)
        is_fit[found.misfits] = False
        fitting, readings = objects.filter(pa.array(is_fit)), found.readings
        ahead = self._mark_ahead(readings, fitting)
        letters = [
            _reject(problems, problems.column("problem").to_pylist()),
            _reject(sound.filter(pa.array(~fits)), NO_OBJECT),
            _reject(objects.take(pa.array(found.misfits)), found.reasons),
            _reject(fitting.filter(pa.array(ahead)), self._explain_ahead(readings.filter(pa.array(ahead)))),
        ]
        return Decoded(readings.filter(pa.array(~ahead)), join(letters, REJECTS))

    def _complete(self, texts: pa.RecordBatch, objects: pa.RecordBatch) -> pa.RecordBatch:
        """Add what the readings do not say themselves."""
        columns = dict(zip(texts.schema.names, texts.columns, strict=True))
        columns |= match_origins(self.pattern, objects.column("origin"))
        moment = self.definition.event_time
        if moment in columns:
            columns[moment] = self._read_moments(columns[moment], objects.column("arrived"))
        return pa.record_batch(columns)

    def _read_moments(self, texts: Column, arrived: Column) -> Column:
        """Event times, with those of arrival where there are none."""
        if self.time_unit is not None:
            texts = count_since_1970(texts, self.time_unit)
        if not self.is_arrival_time or not texts.null_count:
            return texts
        own = arrived if texts.type == arrived.type else arrived.cast(pa.string())
        return pc.coalesce(texts, own)

    def _mark_ahead(self, readings: pa.RecordBatch, fitting: pa.RecordBatch) -> Bools:
        """Mark the readings whose time is too far after that of their arrival."""
        limit, column = AheadLimit.of(self.definition), self.definition.event_time
        if limit is None or column is None:
            return np.zeros(readings.num_rows, np.bool_)
        moments, arrived = (each.cast(pa.int64()).to_numpy() for each in (readings.column(column), fitting["arrived"]))
        marked: Bools = moments - arrived > limit.clock_us
        return marked

    def _explain_ahead(self, readings: pa.RecordBatch) -> list[str]:
        limit, column = AheadLimit.of(self.definition), self.definition.event_time
        if limit is None or column is None:
            return []
        return [
            limit.explain_by_clock(column, moment) for moment in readings.column(column).cast(pa.int64()).to_pylist()
        ]


def _reject(received: pa.RecordBatch, reasons: "str | list[str]") -> pa.RecordBatch:
    shown = [show_line(line.encode()) for line in received.column("line").to_pylist()]
    return make_dead_letters(reasons, shown, received.column("origin").to_pylist())
