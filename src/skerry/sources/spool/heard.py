"""Counts what a spool takes up, sensor by sensor, and remembers how far the counts were handed on.

What a crash leaves uncounted is in the spool: the next writer counts it from there. Of doubles and gaps in the last
second before a crash nothing is known.
"""

import os
import re
import threading
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from skerry.model.arrays import Bools
from skerry.sensors.heard import Arrivals, Heard, HeardSensors
from skerry.sources.spool.origins import match_origins

__all__ = ["SpoolCounts"]

_COUNTED, _SENSOR = "counted", "sensor"


class SpoolCounts:
    """Of the sensors that a spool hears.

    ``pattern`` finds the sensor in the origin. If it does not, the sensor is among the readings' keys, as ``Identity``
    finds it.
    """

    def __init__(self, folder: Path, pattern: str | None = None) -> None:
        self._path, self._pattern, self._heard = folder / _COUNTED, pattern, HeardSensors()
        self._lock = threading.Lock()
        self._frames = self._taken = 0
        self.first = _read_number(self._path)
        """The first frame that was not counted, None if nobody has counted in this spool."""

    def note(self, received: pa.RecordBatch, found: pa.RecordBatch, is_double: Bools, frames: int) -> None:
        """Count what came; with it there are so many frames. ``found`` is what ``Identity`` says of the readings."""
        arrivals = self._describe(received, found, is_double)
        with self._lock:
            self._heard.note(arrivals)
            self._frames = frames

    def recall(self, received: pa.RecordBatch, found: pa.RecordBatch, frame: int) -> None:
        """Take up a frame that was there before: it is counted if it was not yet."""
        is_double = np.zeros(received.num_rows, np.bool_)
        if self.first is not None and frame >= self.first:
            self.note(received, found, is_double, frame + 1)
        else:
            self._heard.recall(self._describe(received, found, is_double))

    def begin(self, frames: int) -> None:
        """All that was there before is taken up, so many frames: where nobody has counted, counting begins here."""
        self._frames = frames
        if self.first is None:
            self._taken = frames
            self.settle()

    def take(self) -> dict[str, Heard]:
        """What was heard of each sensor since this was asked last."""
        with self._lock:
            self._taken = self._frames
            return self._heard.take()

    def settle(self) -> None:
        """What was taken last is kept by somebody: do not count it again."""
        descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT, 0o600)
        try:
            os.pwrite(descriptor, self._taken.to_bytes(8), 0)
        finally:
            os.close(descriptor)

    def _describe(self, received: pa.RecordBatch, found: pa.RecordBatch, is_double: Bools) -> Arrivals:
        is_in_origin = self._pattern is not None and _SENSOR in re.compile(self._pattern).groupindex
        folded = (received.column("origin") if is_in_origin else found.column("sensor")).dictionary_encode()
        names = match_origins(self._pattern, folded.dictionary)[_SENSOR] if is_in_origin else folded.dictionary
        sequence = found.column("sequence")
        return Arrivals(
            names.to_pylist(),
            folded.indices.fill_null(-1).to_numpy(zero_copy_only=False),
            received.column("arrived").cast(pa.int64()).to_numpy(),
            pc.is_valid(received.column("problem")).to_numpy(zero_copy_only=False),
            is_double,
            sequence.fill_null(0).to_numpy(zero_copy_only=False),
            pc.is_valid(sequence).to_numpy(zero_copy_only=False),
        )


def _read_number(path: Path) -> int | None:
    try:
        return int.from_bytes(path.read_bytes())
    except FileNotFoundError:
        return None
