"""The order of each type's values, as whole numbers or bytes: DuckDB's, with NaN above all numbers, equal to itself."""

import math
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal

import pyarrow as pa

from skerry.index.value_sets import Cut, ValueSet
from skerry.model.types import TIMESTAMP

__all__ = ["LEAST", "Domain", "Moment", "domain_of", "double_of_key", "key_of_double", "list_types"]

LEAST = -(2**63)
_TEXT_END = b"\xff"
"""Above all texts: no byte of UTF-8 is as high."""


class Moment(int):
    """Microseconds since the epoch, as a type apart from other whole numbers."""


def key_of_double(value: float) -> int:
    """The rank of a double among all doubles. Both zeros have one key, all NaN another.

    >>> key_of_double(-1.0) < key_of_double(-0.0) == key_of_double(0.0) < key_of_double(float("nan"))
    True
    """
    if math.isnan(value):
        return 0x7FF8 << 48
    (bits,) = struct.unpack("<q", struct.pack("<d", value + 0.0))
    return bits if bits >= 0 else bits ^ 0x7FFFFFFFFFFFFFFF


def double_of_key(key: int) -> float:
    """The double of a rank.

    >>> double_of_key(key_of_double(-1.5))
    -1.5
    """
    bits = key if key >= 0 else key ^ 0x7FFFFFFFFFFFFFFF
    (value,) = struct.unpack("<d", struct.pack("<q", bits))
    found: float = value
    return found


@dataclass(frozen=True)
class Domain:
    """All values of a type, and the values below and up to a constant.

    ``cuts`` gives, for a constant, the keys at which "not less" and "greater" begin; None where the two cannot
    be compared as keys.
    """

    low: Cut
    high: Cut
    cuts: Callable[[object], tuple[Cut, Cut] | None]

    @property
    def values(self) -> ValueSet:
        """Every value but NULL."""
        return ValueSet(((self.low, self.high),))


def _make_integer_domain(width: int) -> Domain:
    low, high = -(2 ** (width - 1)), 2 ** (width - 1)

    def cuts(constant: object) -> tuple[Cut, Cut] | None:
        if isinstance(constant, float):
            found = _find_double_cuts(constant)
        elif isinstance(constant, Decimal):
            found = (math.ceil(constant), math.floor(constant) + 1)
        elif type(constant) is int:
            found = (constant, constant + 1)
        else:
            return None
        return _check_codable(min(max(found[0], low), high), min(max(found[1], low), high))

    return Domain(low, high, cuts)


def _check_codable(low: int, high: int) -> tuple[Cut, Cut] | None:
    """None if the least 64-bit number would have to be distinguished from the next: NULL has its code."""
    return None if LEAST + 1 in (low, high) else (low, high)


def _find_double_cuts(constant: float) -> tuple[int, int]:
    """From which whole numbers on the nearest double is not less, and is greater; rounding keeps the order.

    >>> _find_double_cuts(2.0**53)
    (9007199254740992, 9007199254740994)
    """
    if math.isnan(constant):
        return 2**63, 2**63

    def first(holds: Callable[[int], bool]) -> int:
        low, high = -(2**63), 2**63
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if holds(middle) else (middle + 1, high)
        return low

    return first(lambda number: float(number) >= constant), first(lambda number: float(number) > constant)


def _cuts_of_doubles(constant: object) -> tuple[Cut, Cut] | None:
    if not isinstance(constant, float):
        return None
    key = key_of_double(constant)
    return key, key + 1


def _cuts_of_moments(constant: object) -> tuple[Cut, Cut] | None:
    return _check_codable(int(constant), int(constant) + 1) if isinstance(constant, Moment) else None


def _cuts_of_booleans(constant: object) -> tuple[Cut, Cut] | None:
    return (int(constant), int(constant) + 1) if isinstance(constant, bool) else None


def _cuts_of_texts(constant: object) -> tuple[Cut, Cut] | None:
    if not isinstance(constant, str):
        return None
    key = constant.encode()
    return key, key + b"\0"


_DOUBLES = Domain(key_of_double(-math.inf), key_of_double(math.nan) + 1, _cuts_of_doubles)

_DOMAINS: Mapping[pa.DataType, Domain] = {
    pa.int8(): _make_integer_domain(8),
    pa.int16(): _make_integer_domain(16),
    pa.int32(): _make_integer_domain(32),
    pa.int64(): _make_integer_domain(64),
    pa.float32(): _DOUBLES,
    pa.float64(): _DOUBLES,
    pa.bool_(): Domain(0, 2, _cuts_of_booleans),
    pa.string(): Domain(b"", _TEXT_END, _cuts_of_texts),
    TIMESTAMP: Domain(LEAST, 2**63, _cuts_of_moments),
}


def domain_of(type_: pa.DataType) -> Domain | None:
    """The order of a type's values; None for a type that has none here.

    >>> domain_of(pa.bool_()).values
    ValueSet(spans=((0, 2),), null=False)
    >>> domain_of(pa.list_(pa.int64()))
    """
    return _DOMAINS.get(type_)


def list_types() -> dict[str, pa.DataType]:
    """The types that have an order, by name."""
    return {str(type_): type_ for type_ in _DOMAINS}
