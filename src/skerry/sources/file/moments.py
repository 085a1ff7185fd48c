"""Event times of some lines, one by one: where a block begins and ends."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pyarrow as pa

from skerry.model.time import Micros
from skerry.model.types import TIMESTAMP
from skerry.sources.epoch_times import count_since_1970
from skerry.sources.file.conform import EARLIEST, LATEST, conform

__all__ = ["read_moments"]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def read_moments(texts: Sequence[str | None], unit: str | None = None) -> list[Micros]:
    """The times that texts say, without those that cannot be read; numbers since 1970 are in a unit.

    >>> read_moments(["1970-01-01 00:00:01", None, "soon"]), read_moments(["2", ""], "s")
    ([1000000], [2000000])
    """
    if unit is not None:
        texts = count_since_1970(pa.array(texts, pa.string()), unit).cast(pa.string()).to_pylist()
    moments = (_read_moment(text) for text in texts if text)
    return [moment for moment in moments if moment is not None]


def _read_moment(text: str) -> Micros | None:
    """Read one time as ``conform`` would, or nearly: Python reads the usual forms at once."""
    try:
        read = datetime.fromisoformat(text.strip())
    except ValueError:
        return _read_unusual_moment(text)
    aware = read if read.tzinfo else read.replace(tzinfo=UTC)
    moment = Micros((aware - _EPOCH) // timedelta(microseconds=1))
    return moment if EARLIEST <= moment <= LATEST else None


def _read_unusual_moment(text: str) -> Micros | None:
    times = conform(pa.record_batch({"ts": [text]}), pa.schema({"ts": TIMESTAMP}), "ts").readings.column("ts")
    return Micros(times.cast(pa.int64())[0].as_py()) if len(times) else None
