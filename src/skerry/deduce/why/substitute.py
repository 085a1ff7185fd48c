"""Puts values in for the variables of a subgoal, for people to read."""

from typing import cast

from skerry.deduce.evaluate import Binding
from skerry.model.term import Arithmetic, Call, Constant, Term, Terms, Variable
from skerry.plan.program import Atom, Builtin, Comparison, Subgoal

__all__ = ["substitute"]


def substitute(subgoal: Subgoal, binding: Binding, keep: bool = False) -> Subgoal:
    """Put values in for the variables of a subgoal; those that have none and no name of their own are ``_``."""
    match subgoal:
        case Comparison(operator, left, right):
            return Comparison(operator, _with(left, binding, keep), _with(right, binding, keep))
        case Builtin(name, arguments, negated):
            return Builtin(name, tuple(_with(each, binding, keep) for each in arguments), negated)
        case Atom(name, _, negated):
            terms = cast(tuple[Term, ...], subgoal.arguments)
            return Atom(name, tuple(_with(each, binding, keep) for each in terms), negated)


def _with(term: Term, binding: Binding, keep: bool) -> Term:
    match term:
        case Variable(name) if name in binding:
            return Constant(binding[name])
        case Variable(name) if name.startswith("$") and not keep:
            return Variable("_")
        case Terms(items, name, front):
            inner = tuple(_with(each, binding, keep) for each in items)
            start = binding.get(front.name) if front else None
            if isinstance(start, tuple):
                return Terms((*map(Constant, start), *inner), name)
            return Terms(inner, name, front)
        case Arithmetic(operator, left, right):
            return Arithmetic(operator, _with(left, binding, keep), _with(right, binding, keep))
        case Call(name, arguments):
            return Call(name, tuple(_with(each, binding, keep) for each in arguments))
    return term
