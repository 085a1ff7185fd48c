"""Record batches: joined, emptied, and packed into bytes for the way through Spark."""

from collections.abc import Sequence

import pyarrow as pa

__all__ = ["as_batch", "empty", "join", "pack", "unpack"]


def empty(schema: pa.Schema) -> pa.RecordBatch:
    """Give a batch without rows.

    >>> empty(pa.schema({"speed": pa.float64()})).num_rows
    0
    """
    return pa.RecordBatch.from_arrays([pa.array([], field.type) for field in schema], schema=schema)


def join(batches: Sequence[pa.RecordBatch], schema: pa.Schema) -> pa.RecordBatch:
    """Put batches of one schema behind each other, without a copy where there is but one."""
    filled = [batch for batch in batches if batch.num_rows]
    if not filled:
        return empty(schema)
    return filled[0] if len(filled) == 1 else pa.concat_batches(filled)


def as_batch(table: pa.Table) -> pa.RecordBatch:
    """Make one batch of a table."""
    return join(table.to_batches(), table.schema)


def pack(batch: pa.RecordBatch) -> bytes:
    """Write a batch, with its schema, as one Arrow IPC stream.

    >>> unpack(pack(empty(pa.schema({"speed": pa.float64()})))).schema.names
    ['speed']
    """
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return bytes(sink.getvalue())


def unpack(blob: bytes | pa.Buffer) -> pa.RecordBatch:
    """Read what ``pack`` wrote, sharing its memory."""
    with pa.ipc.open_stream(blob) as reader:
        return reader.read_next_batch()
