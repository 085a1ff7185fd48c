"""Sets of an operand's values for which a comparison is true, and for which it is false."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from sqlglot import exp

from skerry.index.constants import NotIndexable
from skerry.index.domains import Domain
from skerry.index.operands import Read
from skerry.index.region import Operand
from skerry.index.value_sets import Cut, ValueSet

__all__ = [
    "FindSets",
    "Sets",
    "no_values",
    "split_points",
    "split_values",
    "split_with_null",
    "values_beside",
    "values_with_prefix",
]


class Sets(NamedTuple):
    """The values of an operand for which a part of a predicate is true, and those for which it is false."""

    operand: Operand
    true: ValueSet
    false: Callable[[], ValueSet]

    def negate(self) -> "Sets":
        """The same of NOT."""
        false = self.false()
        return Sets(self.operand, false, lambda: self.true)


FindSets = Callable[[], Sets]
"""Makes sets of the constants that a form holds at the time."""


def no_values() -> ValueSet:
    """The empty set."""
    return ValueSet(())


def split_values(read: Read, values: ValueSet) -> Sets:
    """True for some values, false for the others, neither for NULL."""
    return Sets(read.operand, values, lambda: read.domain.values.without(values))


def split_points(read: Read, constants: Sequence[object]) -> Sets:
    """True for some constants."""
    if isinstance(read.domain.low, bytes):
        return split_values(read, _make_text_points(constants))
    return split_values(read, ValueSet.of([_find_cuts(read.domain, each) for each in constants]))


def split_with_null(read: Read, constants: Sequence[object]) -> Sets:
    """True for some constants, of which NULL may be one, false for all others."""
    cuts = [_find_cuts(read.domain, each) for each in constants if each is not None]
    values, everything = ValueSet.of(cuts, null=None in constants), ValueSet(read.domain.values.spans, null=True)
    return Sets(read.operand, values, lambda: everything.without(values))


def values_beside(kind: type[exp.Expr], domain: Domain, constant: object) -> ValueSet:
    """The values for which a comparison with a constant is true.

    >>> import pyarrow as pa
    >>> from skerry.index.domains import domain_of
    >>> values_beside(exp.NEQ, domain_of(pa.int8()), 5)
    ValueSet(spans=((-128, 5), (6, 128)), null=False)
    """
    return _VALUES_BESIDE[kind](domain, *_find_cuts(domain, constant))


_VALUES_BESIDE: Mapping[type[exp.Expr], Callable[[Domain, Cut, Cut], ValueSet]] = {
    exp.LT: lambda domain, low, high: ValueSet.between(domain.low, low),
    exp.LTE: lambda domain, low, high: ValueSet.between(domain.low, high),
    exp.EQ: lambda domain, low, high: ValueSet.between(low, high),
    exp.GTE: lambda domain, low, high: ValueSet.between(low, domain.high),
    exp.GT: lambda domain, low, high: ValueSet.between(high, domain.high),
    exp.NEQ: lambda domain, low, high: ValueSet.of([(domain.low, low), (high, domain.high)]),
}
"""Of the cuts below and above a constant."""


def values_with_prefix(domain: Domain, text: str) -> ValueSet:
    """All texts that begin with one: up to the first that does not, which ends in a higher byte."""
    low = text.encode()
    return ValueSet.between(low, low[:-1] + bytes([low[-1] + 1]) if low else domain.high)


def _make_text_points(constants: Sequence[object]) -> ValueSet:
    """The set of some texts. Of hundreds, as people list them, no two touch, unless there are zero bytes in them."""
    keys = sorted({text.encode() for text in constants if isinstance(text, str)})
    if not all(isinstance(text, str) for text in constants):
        raise NotIndexable
    cuts = [(key, key + b"\0") for key in keys]
    return ValueSet.of(cuts) if any(b"\0" in key for key in keys) else ValueSet(tuple(cuts))


def _find_cuts(domain: Domain, constant: object) -> tuple[Cut, Cut]:
    found = domain.cuts(constant)
    if found is None:
        raise NotIndexable
    return found
