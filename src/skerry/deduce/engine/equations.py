"""Terms as equations see them: what stands in them, and how to solve for it."""

from collections.abc import Mapping, Sequence
from typing import cast

from skerry.model.term import Arithmetic, Call, Term, Terms, Variable, variables
from skerry.plan.program import Atom

__all__ = ["calls_any", "names_in", "names_of", "rename_variables", "solve_for", "terms_of"]


def terms_of(atom: Atom) -> tuple[Term, ...]:
    """The arguments of an atom of a body: terms all."""
    return cast(tuple[Term, ...], atom.arguments)


def names_of(term: Term) -> Sequence[str]:
    """The names of all variables in a term."""
    return [variable.name for variable in variables(term)]


def names_in(atom: Atom) -> set[str]:
    """The names of all variables in an atom."""
    return {name for term in terms_of(atom) for name in names_of(term)}


def calls_any(term: Term) -> bool:
    """Whether a built-in is called in a term."""
    match term:
        case Call():
            return True
        case Arithmetic(_, left, right):
            return calls_any(left) or calls_any(right)
    return False


def solve_for(term: Term, value: Term, name: str) -> Term | None:
    """Solve ``term = value`` for a variable that stands in the term once, under sums and differences.

    >>> solve_for(Arithmetic("-", Variable("x"), Variable("d")), Variable("y"), "d")
    Arithmetic(operator='-', left=Variable(name='x'), right=Variable(name='y'))
    """
    match term:
        case Variable(found) if found == name:
            return value
        case Arithmetic("+" | "-" as sign, left, right):
            inside_left, inside_right = name in names_of(left), name in names_of(right)
            if inside_left and not inside_right:
                return solve_for(left, Arithmetic("-" if sign == "+" else "+", value, right), name)
            if inside_right and not inside_left and sign == "+":
                return solve_for(right, Arithmetic("-", value, left), name)
            if inside_right and not inside_left:
                return solve_for(right, Arithmetic("-", left, value), name)
    return None


def rename_variables(term: Term, names: Mapping[str, str]) -> Term:
    """A pattern with other names."""
    match term:
        case Variable(name):
            return Variable(names[name])
        case Terms(items, name, front):
            others = tuple(rename_variables(item, names) for item in items)
            return Terms(others, name, None if front is None else Variable(names[front.name]))
    return term
