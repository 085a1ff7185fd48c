"""Patterns of rows: what MATCH_RECOGNIZE looks for, as data.

A row is said to *be* a symbol where the symbol's condition holds. Parts come in the order in which they are preferred:
an alternative before those behind it, more repetitions before fewer, or fewer before more where a part is reluctant.
"""

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Chain", "Choice", "End", "Pattern", "Repeat", "Symbol", "is_bounded", "is_nullable", "list_parts"]


@dataclass(frozen=True)
class Symbol:
    """One row that is a symbol."""

    number: int


@dataclass(frozen=True)
class Chain:
    """Parts behind each other."""

    parts: "tuple[Pattern, ...]"


@dataclass(frozen=True)
class Choice:
    """One of several parts."""

    parts: "tuple[Pattern, ...]"


@dataclass(frozen=True)
class Repeat:
    """A part, from ``least`` to ``most`` times; None has no bound."""

    part: "Pattern"
    least: int
    most: int | None
    reluctant: bool = False


@dataclass(frozen=True)
class End:
    """No more rows come within the span of the match."""


Pattern = Symbol | Chain | Choice | Repeat | End


def is_nullable(pattern: Pattern) -> bool:
    """Whether no row at all may be a match."""
    match pattern:
        case Symbol():
            return False
        case End():
            return True
        case Repeat(part, least, _):
            return least == 0 or is_nullable(part)
        case Choice(parts):
            return any(map(is_nullable, parts))
        case Chain(parts):
            return all(map(is_nullable, parts))


def is_bounded(pattern: Pattern) -> bool:
    """Whether a match has a greatest number of rows."""
    if isinstance(pattern, Repeat):
        return pattern.most is not None and is_bounded(pattern.part)
    return all(map(is_bounded, list_parts(pattern)))


def list_parts(pattern: Pattern) -> "Sequence[Pattern]":
    """The parts of a pattern."""
    if isinstance(pattern, Repeat):
        return (pattern.part,)
    return pattern.parts if isinstance(pattern, Chain | Choice) else ()
