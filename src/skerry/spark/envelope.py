"""Envelopes: how rows and time travel through Spark, packed, a few per batch.

An envelope is addressed to ``(group, bucket)``. From route to operate it carries partial rows of one
stream (or none) and that stream's newest event time; from operate to deliver it carries answers.
Group ``DIRECT`` needs no state: its envelopes pass ``operate`` as they are, bucket = task.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import pyarrow as pa

__all__ = [
    "ARROW_SCHEMA",
    "DIRECT",
    "KEPT",
    "PART_BYTES",
    "PAST",
    "RETIRE",
    "SHARE",
    "SPARK_SCHEMA",
    "TALLY",
    "Envelope",
    "to_batch",
]

SPARK_SCHEMA = (
    "grp INT, bucket INT, task INT, name STRING, newest BIGINT, heard BIGINT, "
    "row_count BIGINT, share DOUBLE, blob BINARY"
)

ARROW_SCHEMA = pa.schema(
    {
        "grp": pa.int32(),
        "bucket": pa.int32(),
        "task": pa.int32(),
        "name": pa.string(),
        "newest": pa.int64(),
        "heard": pa.int64(),
        "row_count": pa.int64(),
        "share": pa.float64(),
        "blob": pa.binary(),
    }
)

DIRECT = -1
TALLY = "#tally"
"""The name under which a task reports what became of the readings it took; no output is called so."""
SHARE = "#share"
"""The name under which a view that sheds learns how much of the batch it may take in."""
KEPT = "#kept/"
"""What the name begins with under which a task reports that it has written readings of a stream to its history."""
PAST = "#past/"
"""What the name begins with under which a view that begins with history takes it in: chunk, order, stream."""
RETIRE = "#retire"
"""The name under which Spark is told of an address that it will not hear of again: its state can go."""
PART_BYTES = 1 << 20
"""Answers larger than this are written where they are found instead of sent to the driver."""


@dataclass(frozen=True)
class Envelope:
    """``name`` is a stream on the way to operate, an output on the way to deliver."""

    grp: int
    bucket: int
    task: int
    name: str
    newest: int | None = None
    """How far the stream has come, on the way to operate."""
    heard: int | None = None
    """The newest of its readings in the task, which is known even when the stream has come to its end."""
    row_count: int | None = None
    """How many rows the task has written by itself, on the way to deliver."""
    share: float | None = None
    """The fraction of the step's readings that a view which sheds takes in."""
    blob: bytes | None = None


def to_batch(envelopes: Iterable[Envelope]) -> pa.RecordBatch:
    """Put envelopes into the form Spark takes."""
    rows = list(envelopes)
    columns = [pa.array([getattr(row, field.name) for row in rows], field.type) for field in ARROW_SCHEMA]
    return pa.RecordBatch.from_arrays(columns, schema=ARROW_SCHEMA)
