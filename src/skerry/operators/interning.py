"""Keys and sensors as whole numbers, exact, and back.

Numbers, times and truth values are their own code. Texts, and whatever else there is, are numbered as
they come; codes of two operators, or of two runs, must not be compared.
"""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from skerry.kernels.interning import Integers, Texts
from skerry.model.arrays import Int64s, UInt8s
from skerry.operators.grouping import integers

__all__ = ["Keys", "Sensors"]


class Keys:
    """Codes of keys: equal where the keys are, and nowhere else. NULL has none.

    >>> keys = Keys(pa.string())
    >>> keys.codes(pa.array(["co", "no", "co"])).tolist()
    [0, 1, 0]
    >>> keys.values(np.array([1, 0])).to_pylist()
    ['no', 'co']
    """

    def __init__(self, type_: pa.DataType) -> None:
        self._type = type_
        self._texts = None if _is_whole(type_) else Texts()

    @property
    def count(self) -> int:
        """How many had to be remembered."""
        return self._texts.count if self._texts else 0

    def codes(self, column: pa.Array) -> Int64s:
        """The code of each key."""
        return self._texts.number(*_bytes(column)) if self._texts else _wholes(column)

    def values(self, codes: Int64s) -> pa.Array:
        """The key of each code."""
        if self._texts:
            return _texts(self._texts).take(pa.array(codes)).cast(self._type)
        return _values(codes, self._type)


class Sensors:
    """Numbers of sensors from 0, as they come. NULL has none.

    >>> sensors = Sensors(pa.string())
    >>> sensors.numbers(pa.array(["s2", "s1", "s2"])).tolist(), sensors.orders().tolist()
    ([0, 1, 0], [1, 0])
    >>> sensors.names(np.array([1, 0])).to_pylist()
    ['s1', 's2']
    """

    def __init__(self, type_: pa.DataType) -> None:
        self._type = type_
        self._known: Integers | Texts = Integers() if _is_whole(type_) else Texts()

    @property
    def count(self) -> int:
        """How many there are."""
        return self._known.count

    def numbers(self, column: pa.Array) -> Int64s:
        """The number of each sensor."""
        if isinstance(self._known, Texts):
            return self._known.number(*_bytes(column))
        return self._known.number(_wholes(column))

    def names(self, numbers: Int64s) -> pa.Array:
        """The sensor of each number."""
        if isinstance(self._known, Texts):
            return _texts(self._known).take(pa.array(numbers)).cast(self._type)
        return _values(self._known.values[numbers], self._type)

    def orders(self) -> Int64s:
        """For each number, where its sensor stands among all: numbers by value, texts by their bytes."""
        if isinstance(self._known, Integers):
            return self._known.values
        orders = np.empty(self.count, np.int64)
        orders[pc.array_sort_indices(_texts(self._known).cast(self._type)).to_numpy()] = np.arange(self.count)
        return orders


def _is_whole(type_: pa.DataType) -> bool:
    return integers(pa.array([], type_)) is not None


def _wholes(column: pa.Array) -> Int64s:
    """Integers in the order of the values."""
    found = integers(column)
    assert found is not None, "numbers, times and truth values are integers"
    return _mirror(found) if pa.types.is_floating(column.type) else found


def _values(wholes: Int64s, type_: pa.DataType) -> pa.Array:
    if pa.types.is_floating(type_):
        return pa.array(_mirror(wholes).view(np.float64)).cast(type_)
    return pa.array(wholes) if type_ == pa.int64() else pa.array(wholes).cast(type_)


def _mirror(bits: Int64s) -> Int64s:
    """The bits of doubles so that their order is that of integers, or back: those of negative ones run backwards."""
    return np.where(bits < 0, bits ^ np.int64(2**63 - 1), bits)


def _bytes(column: pa.Array) -> tuple[Int64s, UInt8s]:
    text = column.cast(pa.large_string())
    _, offsets, data = text.buffers()
    ends = np.frombuffer(offsets, np.int64)[text.offset : text.offset + len(text) + 1]
    return ends, np.frombuffer(data or b"", np.uint8)


def _texts(texts: Texts) -> pa.Array:
    buffers = [None, pa.py_buffer(texts.offsets), pa.py_buffer(texts.data)]
    return pa.Array.from_buffers(pa.large_string(), texts.count, buffers)
