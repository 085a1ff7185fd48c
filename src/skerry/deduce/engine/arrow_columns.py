"""Codes as Arrow columns and back."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from skerry.deduce.engine.encoding import Encoding, Kind, Vector, both, kind_of
from skerry.deduce.json_values import parse_json, write_json
from skerry.errors import InputError
from skerry.model.arrays import Bools, Int64s
from skerry.model.term import Value
from skerry.plan.program import MICROSECONDS, Predicate, Type

__all__ = ["ArrowColumns", "arrow_type"]

_TYPES = {Type.INT: pa.int64(), Type.FLOAT: pa.float64(), Type.BOOL: pa.bool_(), Type.TIME: pa.timestamp("us")}


def arrow_type(type_: Type, unit: int = MICROSECONDS) -> pa.DataType:
    """How a column of a type stands in a stream: values that Arrow has no type for as JSON text."""
    if type_ is Type.TIME and unit != MICROSECONDS:
        return pa.int64()
    return _TYPES.get(type_, pa.string())


class ArrowColumns:
    """Takes record batches in as rows of codes, and gives rows of codes out as record batches."""

    def __init__(self, codes: Encoding, unit: int) -> None:
        self._encoding, self._unit = codes, unit

    def schema(self, predicate: Predicate) -> pa.Schema:
        """The columns of a predicate."""
        return pa.schema([(column.name, arrow_type(column.type, self._unit)) for column in predicate.columns])

    def rows(self, batch: pa.RecordBatch, predicate: Predicate) -> Int64s:
        """The rows of a batch that are facts: those without NULL and NaN."""
        if batch.num_columns != predicate.arity:
            raise InputError(f"a fact of {predicate.name!r} has {predicate.arity} values, got {batch.num_columns}")
        rows, valid = np.empty((batch.num_rows, predicate.arity), np.int64), None
        for index, column in enumerate(predicate.columns):
            vector = self._read(batch.column(index), column.type)
            rows[:, index], valid = vector.codes, both(valid, vector.valid)
        return rows if valid is None else rows[valid]

    def batch(self, rows: Int64s, predicate: Predicate) -> pa.RecordBatch:
        """Rows as a batch."""
        schema = self.schema(predicate)
        written = [
            self._write(np.ascontiguousarray(rows[:, index]), column.type, schema.types[index])
            for index, column in enumerate(predicate.columns)
        ]
        return pa.RecordBatch.from_arrays(written, schema=schema)

    def _read(self, array: pa.Array, type_: Type) -> Vector:
        valid: Bools | None = None
        if array.null_count:
            valid = array.is_valid().to_numpy(zero_copy_only=False)
        match kind_of(type_):
            case Kind.INT:
                whole = array.cast(arrow_type(type_, self._unit)).cast(pa.int64())
                return Vector(whole.fill_null(0).to_numpy(), type_, valid)
            case Kind.FLOAT:
                floats = array.cast(pa.float64()).fill_null(0.0).to_numpy() + 0.0
                numbers = ~np.isnan(floats)
                return Vector(floats.view(np.int64), type_, both(valid, None if numbers.all() else numbers))
            case Kind.BOOL:
                return Vector(array.cast(pa.int64()).fill_null(0).to_numpy(), type_, valid)
        return self._read_numbered(array, type_, valid)

    def _read_numbered(self, array: pa.Array, type_: Type, valid: Bools | None) -> Vector:
        """Each different value is looked up once."""
        coded = array.dictionary_encode()
        values = [self._value(value, type_) for value in coded.dictionary.to_pylist()]
        found = self._encoding.encode(values, type_)
        which = coded.indices.fill_null(0).to_numpy().astype(np.int64)
        if not values:
            return Vector(np.zeros(len(array), np.int64), type_, valid)
        known = None if found.valid is None else found.valid[which]
        return Vector(found.codes[which], type_, both(valid, known))

    def _value(self, value: Value, type_: Type) -> Value | None:
        if type_ in (Type.STRING, Type.NODE) or not isinstance(value, str):
            return value
        try:
            return parse_json(value)
        except ValueError:
            return value if type_ is Type.ANY else None

    def _write(self, codes: Int64s, type_: Type, stands: pa.DataType) -> pa.Array:
        match kind_of(type_):
            case Kind.INT:
                return pa.array(codes).cast(stands)
            case Kind.FLOAT:
                return pa.array(codes.view(np.float64))
            case Kind.BOOL:
                return pa.array(codes != 0)
        different, which = np.unique(codes, return_inverse=True)
        values = self._encoding.decode(different, type_)
        texts = [value if isinstance(value, str) and type_ is not Type.ANY else write_json(value) for value in values]
        return pc.take(pa.array(texts, pa.string()), pa.array(which))
