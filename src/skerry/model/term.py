"""The words of a rule: terms, and the values that ground terms stand for.

A value is an ``int`` of 64 bits, a ``float``, a ``str``, a ``bool``, a ``tuple`` of values (a list) or a
``Compound`` (a function symbol with its arguments). Values are immutable and hashable, and two of them are
equal only if they are of one kind: ``1``, ``1.0`` and ``TRUE`` are three values, told apart by ``key``.
"""

from collections.abc import Iterator
from dataclasses import dataclass

__all__ = [
    "Arithmetic",
    "Call",
    "Compound",
    "Constant",
    "Duration",
    "Term",
    "Terms",
    "Value",
    "Variable",
    "is_pattern",
    "variables",
]


@dataclass(frozen=True)
class Compound:
    """A function symbol with its arguments, as a value: ``pair(1, 'a')``."""

    name: str
    arguments: "tuple[Value, ...]"


Value = int | float | str | bool | tuple["Value", ...] | Compound


@dataclass(frozen=True)
class Variable:
    """A name that stands for any value; the same in all of a rule."""

    name: str


@dataclass(frozen=True)
class Constant:
    """A value written down."""

    value: Value


@dataclass(frozen=True)
class Duration:
    """A length of time written down, ``5 s``: as many units of the program's time as that is."""

    microseconds: int


@dataclass(frozen=True)
class Terms:
    """A list or a function symbol, with terms inside.

    A list has no ``name``; ``front`` is the variable of its head-sublist, as in ``[X|R1,R2]``: X holds all but the
    last two. A function symbol has a name and no front.
    """

    items: "tuple[Term, ...]"
    name: str | None = None
    front: Variable | None = None


@dataclass(frozen=True)
class Arithmetic:
    """``left operator right``, of ``+ - * / // %``; a lone minus is ``0 - right``."""

    operator: str
    left: "Term"
    right: "Term"


@dataclass(frozen=True)
class Call:
    """A built-in function called."""

    name: str
    arguments: "tuple[Term, ...]"


Term = Variable | Constant | Duration | Terms | Arithmetic | Call


def is_pattern(term: Term) -> bool:
    """Whether a value can be taken apart by this term: nothing in it has to be computed."""
    return isinstance(term, Variable | Constant) or (isinstance(term, Terms) and all(map(is_pattern, term.items)))


def variables(term: Term) -> Iterator[Variable]:
    """All variables inside a term, from left to right.

    >>> [found.name for found in variables(Terms((Variable("r"),), front=Variable("x")))]
    ['x', 'r']
    """
    match term:
        case Variable():
            yield term
        case Terms(items, _, front):
            if front:
                yield front
            for item in items:
                yield from variables(item)
        case Arithmetic(_, left, right):
            yield from variables(left)
            yield from variables(right)
        case Call(_, arguments):
            for argument in arguments:
                yield from variables(argument)
