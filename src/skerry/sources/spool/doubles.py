"""Readings that have come before: sensors and brokers send again what was not acknowledged in time."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from skerry.model.arrays import Bools
from skerry.model.duckdb_session import query_batch
from skerry.sources.file.jsonl import extract_texts

__all__ = ["Doubles", "Identity"]

_REMEMBERED = 500_000


@dataclass(frozen=True)
class Identity:
    """What tells readings apart: the keys of sequence number, event time and sensor in them, as far as they have any.

    A reading with a sequence number is known by that, its sensor and its time: a sensor that restarts counts anew.
    Without one it is known by all it says. So it is if ``is_anonymous``: nothing tells sensors apart, and two of them
    may have the same number at the same time.
    """

    sequence: str | None = None
    event_time: str | None = None
    sensor: str | None = None
    is_anonymous: bool = False

    def compute(self, received: pa.RecordBatch) -> pa.RecordBatch:
        """A number for each reading; its sequence number if it has one; and its sensor, if that is a key."""
        lines = received.column("line")
        unit = pa.record_batch({"origin": received.column("origin"), "line": lines, **self._find_keys(lines)})
        return query_batch(_HASH.format(is_anonymous=self.is_anonymous), unit)

    def _find_keys(self, lines: "pa.Array[pa.Scalar[pa.DataType]]") -> "dict[str, pa.Array[pa.Scalar[pa.DataType]]]":
        missing = pa.nulls(len(lines), pa.string())
        found = dict.fromkeys(("sequence", "moment", "sensor"), missing)
        moment = self.event_time if self.sequence is not None else None
        wanted = {"sequence": self.sequence, "moment": moment, "sensor": self.sensor}
        names = {name: key for name, key in wanted.items() if key is not None}
        if not names:
            return found
        fits, texts = extract_texts(lines, pa.schema([(name, pa.string()) for name in dict.fromkeys(names.values())]))
        rows = np.where(fits, np.cumsum(fits) - 1, -1)
        index = pa.array(rows, mask=rows < 0)
        return found | {name: texts.column(key).take(index) for name, key in names.items()}


_HASH = """
    SELECT hash(origin, sensor, sequence,
            CASE WHEN sequence IS NULL OR {is_anonymous} THEN line ELSE coalesce(moment, line) END) AS number,
        sequence IS NOT NULL AS is_counted, TRY_CAST(sequence AS BIGINT) AS sequence, sensor
    FROM unit
"""


class Doubles:
    """Knows the last million readings, and says which of others are among them."""

    def __init__(self, identity: Identity) -> None:
        self._identity = identity
        self._older: set[int] = set()
        self._newer: set[int] = set()

    def mark(self, received: pa.RecordBatch, repeated: Bools) -> Bools:
        """Mark the readings that have come before. One without a sequence number may, if its message is repeated."""
        return self.mark_found(self._identity.compute(received), repeated)

    def mark_found(self, found: pa.RecordBatch, repeated: Bools) -> Bools:
        """The same, of readings whose identity was computed."""
        numbers: list[int] = found.column("number").to_pylist()
        counted = found.column("is_counted").to_numpy(zero_copy_only=False)
        known = np.fromiter((self._is_known(number) for number in numbers), np.bool_, len(numbers))
        return known & (counted | repeated)

    def _is_known(self, number: int) -> bool:
        """Whether a number was there; from now on it is."""
        if number in self._newer or number in self._older:
            return True
        self._newer.add(number)
        if len(self._newer) >= _REMEMBERED:
            self._older, self._newer = self._newer, set()
        return False
