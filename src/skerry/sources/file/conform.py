"""What was stored and what was declared: rows that fit, and for each other row the reason why not."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from skerry.model.time import Micros
from skerry.model.types import TIMESTAMP, sql_name
from skerry.sources.file.casts import Column, cast

__all__ = ["EARLIEST", "LATEST", "Conformed", "conform"]

EARLIEST = Micros(-2_208_988_800_000_000)
"""The first moment of 1900."""

LATEST = Micros(9_246_182_400_000_000 - 1)
"""The last moment of 2262. What lies outside is a broken clock, or a stand-in for 'never'."""

_SHOWN_CHARACTERS = 80

Rows: TypeAlias = NDArray[np.intp]
_Fault: TypeAlias = tuple[Rows, list[str]]


@dataclass(frozen=True)
class Conformed:
    """Readings with the declared schema, the rows that gave none, and for each of these the reason."""

    readings: pa.RecordBatch
    misfits: Rows
    reasons: list[str]


def conform(stored: pa.RecordBatch, schema: pa.Schema, event_time: str | None) -> Conformed:
    """Bring stored columns, in the declared order, to the declared types.

    A row is a misfit if a value that is there cannot be read as its column's type, if a time is out of
    range, or if its event time is missing; the reason names the first column that is wrong.

    >>> stored = pa.record_batch({"ts": ["2026-01-01T00:00:00+02:00", None], "speed": ["61.5", "abc"]})
    >>> found = conform(stored, pa.schema({"ts": TIMESTAMP, "speed": pa.float64()}), "ts")
    >>> found.readings.to_pylist()
    [{'ts': datetime.datetime(2025, 12, 31, 22, 0), 'speed': 61.5}]
    >>> found.misfits.tolist(), found.reasons
    ([1], ['ts is missing'])
    """
    columns = cast(stored.columns, schema.types)
    readings = pa.RecordBatch.from_arrays(columns, schema=schema)
    triples = zip(schema, stored.columns, columns, strict=True)
    faults = [fault for triple in triples for fault in _faults(*triple, required=triple[0].name == event_time)]
    if not faults:
        return Conformed(readings, np.zeros(0, np.intp), [])
    misfits, first = np.unique(np.concatenate([rows for rows, _ in faults]), return_index=True)
    fits = np.ones(readings.num_rows, np.bool_)
    fits[misfits] = False
    reasons = [reason for _, told in faults for reason in told]
    return Conformed(readings.filter(pa.array(fits)), misfits, [reasons[place] for place in first])


def _faults(field: "pa.Field[pa.DataType]", stored: Column, read: Column, required: bool) -> Iterator[_Fault]:
    """Find the rows in which a column is wrong; a glance at counts and extremes is enough where none is."""
    if required and stored.null_count:
        yield _because(stored, _marked(stored.is_null()), f"{field.name} is missing")
    if read.null_count > stored.null_count:
        lost = _marked(pc.and_(read.is_null(), stored.is_valid()))
        yield _because(stored, lost, f"column {field.name}: '", f"' is not {sql_name(field.type)}")
    if field.type == TIMESTAMP and _reaches_beyond(read):
        beyond = _marked(pc.or_(pc.less(read, _moment(EARLIEST)), pc.greater(read, _moment(LATEST))))
        yield _because(stored, beyond, f"column {field.name}: '", "' is out of range, 1900 to 2262")


def _reaches_beyond(times: Column) -> bool:
    ends = pc.min_max(times.cast(pa.int64()))
    return bool(ends["min"].is_valid and (ends["min"].as_py() < EARLIEST or ends["max"].as_py() > LATEST))


def _because(stored: Column, rows: Rows, before: str, after: str | None = None) -> _Fault:
    """Give each row its reason, with the stored value in it where there is more to say after it."""
    if after is None:
        return rows, [before] * rows.size
    texts = stored.take(rows).cast(pa.string()).to_pylist()
    return rows, [f"{before}{str(text)[:_SHOWN_CHARACTERS]}{after}" for text in texts]


def _marked(marks: Column) -> Rows:
    found: Rows = np.flatnonzero(marks.fill_null(False).to_numpy(zero_copy_only=False))
    return found


def _moment(micros: Micros) -> "pa.Scalar[pa.DataType]":
    return pa.scalar(micros, TIMESTAMP)
