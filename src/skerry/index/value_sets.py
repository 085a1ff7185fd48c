"""Sets of one column's values, as spans of an order in which every open end is a closed one.

Values stand as *keys*: whole numbers, or the bytes of a text. A span holds the keys from its low cut up to,
and without, its high cut. That says every comparison: there is no key between ``k`` and ``k + 1``, and no text
between ``t`` and ``t`` followed by a zero byte. NULL is no key; a set has it or has it not.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

__all__ = ["Cut", "Span", "Values"]

Cut: TypeAlias = int | bytes
Span: TypeAlias = "tuple[Any, Any]"
"""Two cuts of the same kind."""


@dataclass(frozen=True)
class Values:
    """A set of values: disjoint spans in order, none touching the next, and perhaps NULL.

    >>> below, above = Values.of([(0, 5)]), Values.of([(7, 10)])
    >>> below | above
    Values(spans=((0, 5), (7, 10)), null=False)
    >>> (below | above) & Values.of([(3, 8)])
    Values(spans=((3, 5), (7, 8)), null=False)
    """

    spans: tuple[Span, ...]
    null: bool = False

    @classmethod
    def of(cls, spans: Iterable[Span], *, null: bool = False) -> "Values":
        """The values of any spans, empty and overlapping ones too."""
        found: list[Span] = []
        for low, high in sorted(span for span in spans if span[0] < span[1]):
            if found and low <= found[-1][1]:
                found[-1] = (found[-1][0], max(found[-1][1], high))
            else:
                found.append((low, high))
        return cls(tuple(found), null)

    def __bool__(self) -> bool:
        """Whether there is any value."""
        return self.null or bool(self.spans)

    def __or__(self, other: "Values") -> "Values":
        """What is in one of the two."""
        return Values.of(self.spans + other.spans, null=self.null or other.null)

    def __and__(self, other: "Values") -> "Values":
        """What is in both."""
        found, mine, theirs = [], 0, 0
        while mine < len(self.spans) and theirs < len(other.spans):
            one, another = self.spans[mine], other.spans[theirs]
            found.append((max(one[0], another[0]), min(one[1], another[1])))
            if one[1] < another[1]:
                mine += 1
            else:
                theirs += 1
        return Values.of(found, null=self.null and other.null)

    def without(self, other: "Values") -> "Values":
        """What is here and not there.

        >>> Values.of([(0, 9)], null=True).without(Values.of([(3, 5)]))
        Values(spans=((0, 3), (5, 9)), null=True)
        """
        found, place = [], 0
        for low, high in self.spans:
            while place < len(other.spans) and other.spans[place][0] < high:
                found.append((low, other.spans[place][0]))
                low = max(low, other.spans[place][1])
                place += 1
            place -= 1 if place and other.spans[place - 1][1] > high else 0
            found.append((low, high))
        return Values.of(found, null=self.null and not other.null)

    @property
    def hull(self) -> "Values":
        """One span from the least to the greatest."""
        return Values.of([(self.spans[0][0], self.spans[-1][1])] if self.spans else [], null=self.null)
