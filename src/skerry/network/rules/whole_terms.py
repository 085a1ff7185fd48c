"""Terms of whole numbers: which are, what is the same in other words, and what stands in place of a variable."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from skerry.model.term import Arithmetic, Call, Constant, Term, Terms, Variable
from skerry.network.rules.node_program import Schema
from skerry.plan.program import Aggregate, Atom, Comparison, Subgoal, Type

__all__ = ["is_whole", "normalise", "substitute", "substitute_term"]

_WHOLE = (Type.INT, Type.NODE, Type.TIME)

_Part = TypeVar("_Part", bound=Subgoal)


def is_whole(
    term: Term | Aggregate,
    atoms: Sequence[Atom],
    conditions: Sequence[Subgoal],
    schemas: Mapping[str, Schema],
    kind: Type | None,
) -> bool:
    """Whether a term stands for whole numbers alone, as its columns say, and for a column that holds such."""
    if kind is not None and kind not in _WHOLE:
        return False
    match term:
        case Constant(value):
            return type(value) is int
        case Arithmetic("+" | "-", left, right):
            return all(is_whole(each, atoms, conditions, schemas, None) for each in (left, right))
        case Variable():
            types = [
                schemas[atom.predicate].types[column]
                for atom in atoms
                for column, argument in enumerate(atom.arguments)
                if argument == term
            ]
            if types:
                return all(each in _WHOLE for each in types)
            return any(
                is_whole(value, atoms, (), schemas, None)
                for each in conditions
                if isinstance(each, Comparison) and each.operator == "="
                for name, value in ((each.left, each.right), (each.right, each.left))
                if name == term
            )
    return False


def normalise(term: Term) -> tuple[Term | None, int]:
    """A term as another one and a number that is added to it.

    >>> x = Variable("x")
    >>> normalise(Arithmetic("-", Arithmetic("+", x, Constant(3)), Constant(1)))
    (Variable(name='x'), 2)
    >>> normalise(Constant(4))
    (None, 4)
    """
    match term:
        case Constant(value) if type(value) is int:
            return None, value
        case Arithmetic("+" | "-" as operator, left, right):
            one, other = normalise(left), normalise(right)
            sign = 1 if operator == "+" else -1
            if other[0] is None:
                return one[0], one[1] + sign * other[1]
            if one[0] is None and sign == 1:
                return other[0], one[1] + other[1]
    return term, 0


def substitute_term(term: Term, names: Mapping[str, Term]) -> Term:
    """A term with others in place of some variables.

    >>> substitute_term(Arithmetic("+", Variable("x"), Variable("y")), {"x": Constant(1)})
    Arithmetic(operator='+', left=Constant(value=1), right=Variable(name='y'))
    """
    match term:
        case Variable(name):
            return names.get(name, term)
        case Arithmetic(operator, left, right):
            return Arithmetic(operator, substitute_term(left, names), substitute_term(right, names))
        case Call(name, arguments):
            return Call(name, tuple(substitute_term(each, names) for each in arguments))
        case Terms(items, name, front):
            first = None if front is None else substitute_term(front, names)
            if first is not None and not isinstance(first, Variable):
                raise ValueError("the front of a list is a variable", term, names)
            return Terms(tuple(substitute_term(each, names) for each in items), name, first)
    return term


def substitute(part: _Part, names: Mapping[str, Term]) -> _Part:
    """A subgoal or a head with terms in place of some variables."""
    fields: dict[str, Any]
    if isinstance(part, Comparison):
        fields = {"left": substitute_term(part.left, names), "right": substitute_term(part.right, names)}
    else:
        arguments = (each if isinstance(each, Aggregate) else substitute_term(each, names) for each in part.arguments)
        fields = {"arguments": tuple(arguments)}
    return replace(part, **fields)
