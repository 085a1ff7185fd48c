"""Sets of one column's values, as half-open spans of keys.

Values stand as *keys*: whole numbers, or the bytes of a text. A span holds the keys from its low cut up to,
and without, its high cut. That says every comparison: there is no key between ``k`` and ``k + 1``, and no text
between ``t`` and ``t`` followed by a zero byte. NULL is no key; a set has it or has it not.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple, TypeAlias

__all__ = ["Cut", "Span", "ValueSet"]

Cut: TypeAlias = int | bytes
Span: TypeAlias = "tuple[Any, Any]"
"""Two cuts of the same kind."""


class ValueSet(NamedTuple):
    """A set of values: disjoint spans in order, none touching the next, and perhaps NULL.

    >>> below, above = ValueSet.of([(0, 5)]), ValueSet.of([(7, 10)])
    >>> below | above
    ValueSet(spans=((0, 5), (7, 10)), null=False)
    >>> (below | above) & ValueSet.of([(3, 8)])
    ValueSet(spans=((3, 5), (7, 8)), null=False)
    """

    spans: tuple[Span, ...]
    null: bool = False

    @classmethod
    def of(cls, spans: Iterable[Span], *, null: bool = False) -> "ValueSet":
        """The values of any spans, empty and overlapping ones too."""
        found: list[Span] = []
        for low, high in sorted([span for span in spans if span[0] < span[1]]):
            if found and low <= found[-1][1]:
                found[-1] = (found[-1][0], max(found[-1][1], high))
            else:
                found.append((low, high))
        return cls(tuple(found), null)

    @classmethod
    def between(cls, low: Cut, high: Cut) -> "ValueSet":
        """The values of one span, which may be empty."""
        return cls(((low, high),)) if low < high else cls(())  # type: ignore[operator]

    def __bool__(self) -> bool:
        """Whether there is any value."""
        return self.null or bool(self.spans)

    def __or__(self, other: "ValueSet") -> "ValueSet":
        """What is in one of the two."""
        return ValueSet.of(self.spans + other.spans, null=self.null or other.null)

    def __and__(self, other: "ValueSet") -> "ValueSet":
        """What is in both."""
        if len(self.spans) == 1 and len(other.spans) == 1 and not self.null:
            ((low, high),), ((others_low, others_high),) = self.spans, other.spans
            return ValueSet.between(max(low, others_low), min(high, others_high))
        found, mine, theirs = [], 0, 0
        while mine < len(self.spans) and theirs < len(other.spans):
            one, another = self.spans[mine], other.spans[theirs]
            found.append((max(one[0], another[0]), min(one[1], another[1])))
            if one[1] < another[1]:
                mine += 1
            else:
                theirs += 1
        return ValueSet.of(found, null=self.null and other.null)

    def without(self, other: "ValueSet") -> "ValueSet":
        """What is here and not there.

        >>> ValueSet.of([(0, 9)], null=True).without(ValueSet.of([(3, 5)]))
        ValueSet(spans=((0, 3), (5, 9)), null=True)
        """
        found, index = [], 0
        for low, high in self.spans:
            while index < len(other.spans) and other.spans[index][0] < high:
                found.append((low, other.spans[index][0]))
                low = max(low, other.spans[index][1])
                index += 1
            index -= 1 if index and other.spans[index - 1][1] > high else 0
            found.append((low, high))
        return ValueSet.of(found, null=self.null and not other.null)

    @property
    def hull(self) -> "ValueSet":
        """One span from the least to the greatest."""
        return ValueSet.of([(self.spans[0][0], self.spans[-1][1])] if self.spans else [], null=self.null)
