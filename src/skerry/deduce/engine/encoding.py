"""Values as 64-bit codes, so that two codes of a column are equal if and only if their values are.

Whole numbers, times and truth values stand for themselves, floats are kept by their bits, and everything else has a
number in one table of the program.
"""

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from skerry.deduce.allowance import Allowance
from skerry.deduce.limits import longest
from skerry.deduce.values import coerce, depth, key, kind
from skerry.model.arrays import Bools, Int64s
from skerry.model.term import Compound, Value
from skerry.plan.limits import Limits
from skerry.plan.program import Type

__all__ = ["Encoding", "Kind", "Vector", "both", "distinct", "kind_of"]


class Kind(IntEnum):
    """How the codes of a column are read."""

    INT = 0
    FLOAT = 1
    BOOL = 2
    NUMBERED = 3


_FEWEST = 1 << 16
_VALUE_BYTES = 120
"""What a value takes beside itself and its key: an entry in a dictionary and one in a list, with free ones."""
_KINDS = {Type.INT: Kind.INT, Type.TIME: Kind.INT, Type.FLOAT: Kind.FLOAT, Type.BOOL: Kind.BOOL}
_PLAIN: Mapping[Type, set[type]] = {
    Type.STRING: {str},
    Type.NODE: {int, str},
    Type.ANY: {int, str},
}


def kind_of(type_: Type) -> Kind:
    """How the codes of a column of this type are read."""
    return _KINDS.get(type_, Kind.NUMBERED)


class Vector(NamedTuple):
    """Codes of one type; where ``valid`` is false there is no value. None: all are valid."""

    codes: Int64s
    type: Type
    valid: Bools | None = None


def both(left: Bools | None, right: Bools | None) -> Bools | None:
    """Where both are valid."""
    if left is None or right is None:
        return right if left is None else left
    return left & right


def distinct(columns: Sequence[Int64s]) -> tuple[Int64s, Int64s]:
    """The distinct rows of some columns: the index of one of each, and for each row which of these it equals.

    >>> firsts, which = distinct([np.array([1, 1, 2]), np.array([5, 5, 5])])
    >>> which.tolist()
    [0, 0, 1]
    """
    which = np.zeros(columns[0].size, np.int64)
    firsts = np.zeros(min(columns[0].size, 1), np.int64)
    for column in columns:
        values, numbers = np.unique(column, return_inverse=True)
        _, firsts, which = np.unique(which * values.size + numbers, return_index=True, return_inverse=True)
    return firsts, which


class Encoding:
    """The table of a program, and the ways from values to codes and back.

    >>> encoding = Encoding()
    >>> encoding.encode(["a", "b", "a"], Type.STRING).codes.tolist(), encoding.decode(np.array([1]), Type.STRING)
    ([0, 1, 0], ['b'])
    """

    def __init__(self, allowed: Allowance | None = None) -> None:
        self._numbers: dict[object, int] = {}
        self._values: list[Value] = []
        self._allowed = allowed or Allowance.of(Limits())
        self.bytes = 0
        """About how much memory the values in the table take."""
        self.too_large: dict[int, str] = {}
        """Numbers of lists and terms beyond the program's limits, and what they are."""
        self._free: list[int] = []
        self._constants: dict[tuple[Type, object], int | None] = {}
        self._pinned: set[int] = set()
        self._kept = 0

    def __len__(self) -> int:
        """How many values have a number."""
        return len(self._numbers)

    def number(self, values: Iterable[Value]) -> Int64s:
        """The number of each value in the table; values not met before are added."""
        return np.array([self._number(value) for value in values], np.int64)

    def encode(self, values: Sequence[Value | None], type_: Type) -> Vector:
        """Values as codes of a column of a type; those that do not fit, and None, are not valid."""
        kinds = set(map(type, values))
        if kinds == {int} and kind_of(type_) is Kind.INT:
            return Vector(np.array(values, np.int64), type_)
        if kinds <= _PLAIN.get(type_, set()):
            return Vector(self._plain(values), type_)
        fitting = [None if value is None else coerce(value, type_) for value in values]
        valid = np.array([value is not None for value in fitting], np.bool_)
        return Vector(self._encode_fitting(fitting, type_), type_, None if valid.all() else valid)

    def decode(self, codes: Int64s, type_: Type) -> list[Value]:
        """The values of codes."""
        match kind_of(type_):
            case Kind.INT:
                return codes.tolist()
            case Kind.FLOAT:
                return np.ascontiguousarray(codes).view(np.float64).tolist()
            case Kind.BOOL:
                return (codes != 0).tolist()
        values = self._values
        return [values[number] for number in codes.tolist()]

    def constant_to_search(self, value: Value, type_: Type) -> int | None:
        """The code by which a column of a type is searched for a value; None if it cannot hold it."""
        known = type_, key(value)
        if known not in self._constants:
            found = self.convert_to_search(self.encode([value], _type_of(value)), type_)
            self._constants[known] = int(found.codes[0]) if found.valid is None or found.valid[0] else None
            self._pin(found)
        return self._constants[known]

    def constant_to_store(self, value: Value, type_: Type) -> int | None:
        """The code as which a column of a type takes a value in; None if it does not."""
        found = self.encode([value], type_)
        self._pin(found)
        return int(found.codes[0]) if found.valid is None else None

    @property
    def is_crowded(self) -> bool:
        """Whether so many values have come since the last time that it pays to look which are needed."""
        return len(self._numbers) > 2 * self._kept + _FEWEST

    def forget_all_but(self, numbers: Iterable[Int64s]) -> None:
        """Forget the values that no code has any more; others will get their numbers."""
        needed = self._pinned.union(*(np.unique(each).tolist() for each in numbers))
        for found, number in list(self._numbers.items()):
            if number not in needed:
                del self._numbers[found]
                self.bytes -= _bytes_of(self._values[number])
                self._values[number] = False
                self.too_large.pop(number, None)
                self._free.append(number)
        self._kept = len(self._numbers)

    def convert_to_search(self, vector: Vector, type_: Type) -> Vector:
        """Bring codes to the type of a column that is searched: numbers find numbers that count the same."""
        kind, wanted = kind_of(vector.type), kind_of(type_)
        if kind is wanted:
            return vector
        if kind is Kind.INT and wanted is Kind.FLOAT:
            return Vector(vector.codes.astype(np.float64).view(np.int64), type_, vector.valid)
        if kind is Kind.FLOAT and wanted is Kind.INT:
            floats = np.ascontiguousarray(vector.codes).view(np.float64)
            whole = (np.floor(floats) == floats) & (np.abs(floats) < 2.0**63)
            return Vector(np.where(whole, floats, 0).astype(np.int64), type_, both(vector.valid, whole))
        return self._each(vector, type_, lambda value: _fit(value, wanted))

    def convert_to_store(self, vector: Vector, type_: Type) -> Vector:
        """Bring codes to the type of a column that takes them in; what does not fit is not valid."""
        kind, wanted = kind_of(vector.type), kind_of(type_)
        if kind is wanted and (kind is not Kind.NUMBERED or type_ in (vector.type, Type.ANY)):
            return vector
        if kind is Kind.INT and wanted is Kind.FLOAT:
            return self.convert_to_search(vector, type_)
        return self._each(vector, type_, lambda value: coerce(value, type_))

    def as_numbers(self, vector: Vector) -> Vector:
        """Values of mixed types as whole numbers, if that is what they all are; else as they were given."""
        if vector.type not in (Type.ANY, Type.NODE) or (vector.valid is not None and not vector.valid.all()):
            return vector
        different, which = np.unique(vector.codes, return_inverse=True)
        values = self.decode(different, vector.type)
        if any(type(value) is not int for value in values):
            return vector
        return Vector(np.array(values, np.int64)[which], Type.INT, vector.valid)

    def sizes(self, vector: Vector) -> npt.NDArray[Any]:
        """By what a limit or a stage counts: a number itself, a list's length, 0 for anything else."""
        match kind_of(vector.type):
            case Kind.INT:
                return vector.codes
            case Kind.FLOAT:
                return np.ascontiguousarray(vector.codes).view(np.float64)
            case Kind.BOOL:
                return np.zeros(vector.codes.size, np.int64)
        different, which = np.unique(vector.codes, return_inverse=True)
        return np.array([_size(value) for value in self.decode(different, vector.type)])[which]

    def _each(self, vector: Vector, type_: Type, change: Callable[[Value], Value | None]) -> Vector:
        """Change each different value once."""
        if vector.valid is not None and not vector.valid.any():
            return vector._replace(type=type_)
        different, which = np.unique(
            vector.codes if vector.valid is None else vector.codes[vector.valid], return_inverse=True
        )
        changed = self.encode([change(value) for value in self.decode(different, vector.type)], type_)
        if vector.valid is None:
            return Vector(changed.codes[which], type_, None if changed.valid is None else changed.valid[which])
        codes, valid = np.zeros(vector.codes.size, np.int64), vector.valid.copy()
        codes[vector.valid] = changed.codes[which]
        if changed.valid is not None:
            valid[vector.valid] = changed.valid[which]
        return Vector(codes, type_, valid)

    def _plain(self, values: Iterable[Value | None]) -> Int64s:
        """Strings and whole numbers are their own keys."""
        known = self._numbers
        found = [known.get(value, -1) for value in values]
        if -1 in found:
            return self.number(value for value in values if value is not None)
        return np.array(found, np.int64)

    def _encode_fitting(self, values: Iterable[Value | None], type_: Type) -> Int64s:
        given = [0 if value is None else value for value in values]
        match kind_of(type_):
            case Kind.INT | Kind.BOOL:
                return np.array(given, np.int64)
            case Kind.FLOAT:
                return np.array(given, np.float64).view(np.int64)
        return self.number(given)

    def _number(self, value: Value) -> int:
        found = key(value)
        number = self._numbers.get(found)
        if number is None:
            number = self._numbers[found] = self._take(value)
            self.bytes += _bytes_of(value)
            if isinstance(value, tuple | Compound):
                self._measure(number, value)
        return number

    def _pin(self, vector: Vector) -> None:
        """These numbers stand in plans: they are kept."""
        if kind_of(vector.type) is Kind.NUMBERED:
            self._pinned.update(vector.codes.tolist())

    def _take(self, value: Value) -> int:
        """Give a value the next number."""
        if self._free:
            number = self._free.pop()
            self._values[number] = value
            return number
        self._values.append(value)
        return len(self._values) - 1

    def _measure(self, number: int, value: Value) -> None:
        if depth(value) > self._allowed.term_depth:
            self.too_large[number] = f"a term more than {self._allowed.term_depth} deep"
        elif longest(value) > self._allowed.list_length:
            self.too_large[number] = f"a list longer than {self._allowed.list_length:,}"


def _type_of(value: Value) -> Type:
    found = kind(value)
    return found if found in (Type.BOOL, Type.INT, Type.FLOAT) else Type.ANY


def _bytes_of(value: Value) -> int:
    """About how much memory a value takes, with its key and its entries in the table."""
    return _VALUE_BYTES + 2 * sys.getsizeof(value)


def _size(value: Value) -> int | float:
    if isinstance(value, tuple):
        return len(value)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else 0


def _fit(value: Value, kind: Kind) -> Value | None:
    """A value as a column of a kind would hold it; None if it would not."""
    match kind:
        case Kind.FLOAT:
            return coerce(value, Type.FLOAT)
        case Kind.BOOL:
            return coerce(value, Type.BOOL)
        case Kind.INT:
            return coerce(value, Type.INT)
    return value
