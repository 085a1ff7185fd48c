"""Columns that are computed from others of the same reading, before anything else looks at it."""

import numpy as np
import pyarrow as pa

from skerry.catalog import Source
from skerry.model.expression import Expression
from skerry.operators.derive import Derive
from skerry.sources.file.conform import Conformed, Rows, conform

__all__ = ["add_generated", "conform_source"]


def conform_source(stored: pa.RecordBatch, definition: Source) -> Conformed:
    """Bring stored columns to the declared types, and compute the others.

    An expression that fails is NULL, and an event time that is NULL or out of range makes a misfit, as one that is
    stored does.
    """
    if not definition.generated:
        return conform(stored, definition.schema, definition.event_time)
    is_stored = definition.event_time in definition.stored_schema.names
    first = conform(stored, definition.stored_schema, definition.event_time if is_stored else None)
    second = conform(add_generated(first.readings, definition), definition.schema, definition.event_time)
    fits = np.delete(np.arange(stored.num_rows), first.misfits)
    return _merge(first, second, fits[second.misfits])


def _merge(first: Conformed, second: Conformed, rows: Rows) -> Conformed:
    """What did not fit at first or then, by rows of what was stored."""
    misfits = np.concatenate([first.misfits, rows])
    order, reasons = np.argsort(misfits), [*first.reasons, *second.reasons]
    return Conformed(second.readings, misfits[order], [reasons[index] for index in order])


def add_generated(readings: pa.RecordBatch, definition: Source) -> pa.RecordBatch:
    """Readings with all columns of their source, of which they have those that are stored."""
    if not definition.generated:
        return readings
    computed = dict(definition.generated)
    columns = [
        (field.name, _express(field, computed[field.name]) if field.name in computed else _name(field))
        for field in definition.schema
    ]
    return Derive(columns).transition(readings)


def _express(field: pa.Field, sql: str) -> Expression:
    return Expression(sql, field.type)


def _name(field: pa.Field) -> Expression:
    return Expression.of(field.name, field.type)
