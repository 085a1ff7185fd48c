"""Sets of values of many predicates at once: the cuts of their spans in columns, so that one step makes them all.

    speed BETWEEN 3 AND 5      lows  3 7 1
    speed BETWEEN 7 AND 9      highs 6 10 5
    speed BETWEEN 1 AND 4

All sets of a column have one *shape*: as many spans, NULL in all or in none. Where a step would give them different
shapes, it says which (``Uneven``), and whoever took it divides the predicates and takes it again.
"""

from collections.abc import Hashable, Iterable, Sequence
from functools import cmp_to_key
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from skerry.index.value_sets import Span, ValueSet
from skerry.model.arrays import Int64s

__all__ = ["Uneven", "ValueSetColumn", "decide", "number_kinds", "require_even"]


class Uneven(Exception):
    """Predicates of one form differ in shape: ``kinds`` says by row in which; None if each must be read alone."""

    def __init__(self, kinds: Int64s | None = None) -> None:
        super().__init__()
        self.kinds = kinds


def decide(found: "bool | npt.NDArray[np.bool_]") -> bool:
    """What is true of all rows, or of none.

    >>> decide(np.array([True, True])), decide(False)
    (True, False)
    """
    if isinstance(found, bool):
        return found
    if found.all():
        return True
    if found.any():
        raise Uneven(found.astype(np.int64))
    return False


def number_kinds(values: Iterable[Hashable]) -> tuple[list[int], list[int]]:
    """A number for each value, from 0, the same for equal ones; and by number, where the first of them stands.

    >>> number_kinds("abca")
    ([0, 1, 2, 0], [0, 1, 2])
    """
    known: dict[Hashable, int] = {}
    numbers = [known.setdefault(value, len(known)) for value in values]
    firsts, seen = [], 0
    for row, number in enumerate(numbers):
        if number == seen:
            firsts.append(row)
            seen += 1
    return numbers, firsts


def require_even(values: Sequence[Hashable]) -> None:
    """Refuse rows that differ."""
    if values.count(values[0]) != len(values):
        raise Uneven(np.array(number_kinds(values)[0], np.int64))


class ValueSetColumn(ValueSet):
    """As ``ValueSet``, a row per predicate: a span is two arrays.

    >>> low, high = np.array([3, 7, 1]), np.array([6, 10, 5])
    >>> both = ValueSetColumn(((low, high),)) & ValueSetColumn(((low * 0, low * 0 + 8),))
    >>> [cut.tolist() for cut in both.spans[0]]
    [[3, 7, 1], [6, 8, 5]]
    """

    @classmethod
    def gather(cls, sets: Sequence[ValueSet], rows: Int64s) -> "ValueSetColumn":
        """For each row one of some sets, all of one shape, none empty."""

        def gather_cuts(index: int, end: int) -> npt.NDArray[Any]:
            return _to_array([values.spans[index][end] for values in sets])[rows]

        spans = [(gather_cuts(index, 0), gather_cuts(index, 1)) for index in range(len(sets[0].spans))]
        return cls(tuple(spans), sets[0].null)

    @classmethod
    def of(cls, spans: Iterable[Span], *, null: bool = False) -> "ValueSetColumn":
        """The values of any spans, empty and overlapping ones too."""
        found: list[Span] = []
        filled = [span for span in spans if decide(span[0] < span[1])]
        for low, high in sorted(filled, key=cmp_to_key(_compare)):
            if found and decide(low <= found[-1][1]):
                found[-1] = (found[-1][0], np.maximum(found[-1][1], high))
            else:
                found.append((low, high))
        return cls(tuple(found), null)

    def __or__(self, other: ValueSet) -> "ValueSetColumn":
        """What is in one of the two."""
        return ValueSetColumn.of(self.spans + other.spans, null=self.null or other.null)

    def __and__(self, other: ValueSet) -> "ValueSetColumn":
        """What is in both."""
        pairs = product(self.spans, other.spans)
        met = [(np.maximum(one[0], another[0]), np.minimum(one[1], another[1])) for one, another in pairs]
        return ValueSetColumn.of(met, null=self.null and other.null)

    def take(self, rows: Int64s) -> "ValueSetColumn":
        """The sets of some rows."""
        return ValueSetColumn(tuple([(low[rows], high[rows]) for low, high in self.spans]), self.null)

    @property
    def hull(self) -> "ValueSetColumn":
        """One span from the least to the greatest."""
        ends = [(self.spans[0][0], self.spans[-1][1])] if self.spans else []
        return ValueSetColumn(tuple(ends), self.null)


def _compare(one: Span, other: Span) -> int:
    """Which span comes first, by its low cut."""
    return -1 if decide(one[0] < other[0]) else 1


def _to_array(cuts: Sequence[Any]) -> npt.NDArray[Any]:
    """Keys as numbers of 64 bits where they all are such; texts, and what lies beyond, as objects."""
    if not isinstance(cuts[0], bytes):
        try:
            return np.array(cuts, np.int64)
        except OverflowError:
            pass
    found = np.empty(len(cuts), object)
    found[:] = cuts
    return found
