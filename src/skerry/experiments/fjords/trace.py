"""The trace of Figures 7 and 8: what a station says every 30 seconds, preloaded as records of 30 bytes."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from skerry.model.time import MICROS
from skerry.model.types import TIMESTAMP

__all__ = ["PAPER_RECORDS", "READINGS", "Trace"]

PAPER_RECORDS = 10_767
READINGS = pa.schema(
    {"ts": TIMESTAMP, "lane": pa.int16(), "station": pa.int32(), "speed": pa.float64(), "flow": pa.int64()}
)
_RECORD = np.dtype([("ts", "<i8"), ("lane", "<i2"), ("station", "<i4"), ("speed", "<f8"), ("flow", "<i8")])
_JUNE_US = 959_817_600_000_000
"""The first of June 2000."""
_WINDOW_US = 30 * MICROS["SECOND"]


class Trace:
    """Records in a buffer. Stations take turns; those of one trace have the same moments on every run.

    >>> trace = Trace(records=3, stations=2)
    >>> [batch.column("station").to_pylist() for batch in trace.read(2)]
    [[0, 1], [0]]
    """

    def __init__(self, records: int = PAPER_RECORDS, stations: int = 1) -> None:
        self.records = records
        number, random = np.arange(records), np.random.default_rng(7)
        made = np.zeros(records, _RECORD)
        made["ts"] = _JUNE_US + number // stations * _WINDOW_US
        made["station"], made["lane"] = number % stations, 1
        made["flow"] = random.poisson(9.0, records)
        hours = number // stations * _WINDOW_US / MICROS["HOUR"] % 24.0
        is_rush = (np.abs(hours - 8.0) < 1.5) | (np.abs(hours - 17.5) < 1.5)
        made["speed"] = np.clip(random.normal(np.where(is_rush, 35.0, 62.0), 6.0), 3.0, 90.0)
        self._buffer = made.tobytes()

    def read(self, rows: int) -> Iterator[pa.RecordBatch]:
        """All records, laid out anew by whoever reads them, so many at once."""
        for start in range(0, self.records, rows):
            count = min(rows, self.records - start)
            found = np.frombuffer(self._buffer, _RECORD, count, start * _RECORD.itemsize)
            columns = [pa.array(np.ascontiguousarray(found[field.name])).cast(field.type) for field in READINGS]
            yield pa.RecordBatch.from_arrays(columns, schema=READINGS)
