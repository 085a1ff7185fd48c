"""In which order the subgoals of a body can be taken, so that each finds its variables bound.

Relations bind what they match. ``=`` binds where one side is a variable not bound before; an equation of whole numbers
with one unknown, added or subtracted once, is solved for it. All else only tests.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from skerry.model.term import Arithmetic, Term, Terms, Variable, is_pattern, variables
from skerry.plan.program import Aggregate, Atom, Builtin, Comparison, Subgoal

__all__ = ["Bind", "Check", "Match", "Step", "TakeApart", "order", "order_partly", "variables_of"]


@dataclass(frozen=True)
class Match:
    """Look a relation up; variables not bound before take the values of its tuples."""

    atom: Atom


@dataclass(frozen=True)
class Bind:
    """A variable takes a value."""

    variable: Variable
    value: Term
    integer: bool = False
    """The equation was solved for the variable: only whole numbers count, others give nothing."""


@dataclass(frozen=True)
class TakeApart:
    """The variables of a list or function symbol take their values from a known one; none if that does not fit."""

    pattern: Terms
    value: Term


@dataclass(frozen=True)
class Check:
    """A negated atom, comparison or built-in predicate, all of whose variables are bound."""

    subgoal: Subgoal


Step = Match | Bind | TakeApart | Check


def order(body: Iterable[Subgoal], bound: Collection[Variable] = ()) -> tuple[Step, ...] | None:
    """An order in which a body can be carried out, or None if some variable is bound by nothing.

    Tests come as early as they can, then relations, those with the most known arguments first, and last equations that
    bind: so a variable that both have takes its value from the relation.

    >>> x, y = Variable("x"), Variable("y")
    >>> body = [Comparison("=", y, Arithmetic("+", x, x)), Atom("p", (x,)), Comparison("<", x, y)]
    >>> [type(step).__name__ for step in order(body)]
    ['Match', 'Bind', 'Check']
    """
    steps, waiting, _ = order_partly(body, bound)
    return None if waiting else steps


def order_partly(
    body: Iterable[Subgoal], bound: Collection[Variable] = ()
) -> tuple[tuple[Step, ...], tuple[Subgoal, ...], frozenset[Variable]]:
    """As many steps as can be taken, the subgoals that are left over, and the variables then bound."""
    known, steps = set(bound), list[Step]()
    waiting = [_Waiting(subgoal, frozenset(variables_of(subgoal))) for subgoal in body]
    while waiting:
        found = _next(waiting, known)
        if found is None:
            break
        position, step = found
        known |= waiting.pop(position).variables
        steps.append(step)
    return tuple(steps), tuple(each.subgoal for each in waiting), frozenset(known)


def variables_of(subgoal: Subgoal) -> list[Variable]:
    """All variables of a subgoal, or of a head, in the order in which they are written.

    >>> [found.name for found in variables_of(Comparison("<", Variable("x"), Variable("y")))]
    ['x', 'y']
    """
    return [found for term in _terms(subgoal) for found in variables(term)]


def _terms(subgoal: Subgoal) -> Sequence[Term]:
    match subgoal:
        case Comparison(_, left, right):
            return (left, right)
        case Builtin(_, arguments):
            return arguments
    inside = (argument.argument if isinstance(argument, Aggregate) else argument for argument in subgoal.arguments)
    return [term for term in inside if term is not None]


@dataclass(frozen=True)
class _Waiting:
    subgoal: Subgoal
    variables: frozenset[Variable]

    @property
    def is_relational(self) -> bool:
        return isinstance(self.subgoal, Atom) and not self.subgoal.negated


def _next(waiting: Sequence[_Waiting], known: set[Variable]) -> tuple[int, Step] | None:
    """Which of those that wait comes next, and as what."""
    for position, each in enumerate(waiting):
        if each.variables <= known and not each.is_relational:
            return position, Check(each.subgoal)
    relations = [position for position, each in enumerate(waiting) if each.is_relational]
    if relations:
        chosen = max(relations, key=lambda position: _count_known(waiting[position].subgoal, known))
        atom = waiting[chosen].subgoal
        assert isinstance(atom, Atom)
        return chosen, Match(atom)
    single = [position for position, each in enumerate(waiting) if len(each.variables - known) == 1]
    for way, positions in ((_assign, single), (_take_apart, range(len(waiting))), (_solve, single)):
        for position in positions:
            subgoal = waiting[position].subgoal
            step = way(subgoal, known) if isinstance(subgoal, Comparison) else None
            if step:
                return position, step
    return None


def _count_known(subgoal: Subgoal, known: set[Variable]) -> int:
    return sum(known.issuperset(variables(term)) for term in _terms(subgoal))


def _assign(equation: Comparison, known: set[Variable]) -> Bind | None:
    if equation.operator != "=":
        return None
    for target, value in ((equation.left, equation.right), (equation.right, equation.left)):
        if isinstance(target, Variable) and target not in known and known.issuperset(variables(value)):
            return Bind(target, value)
    return None


def _take_apart(equation: Comparison, known: set[Variable]) -> TakeApart | None:
    if equation.operator != "=":
        return None
    for pattern, value in ((equation.left, equation.right), (equation.right, equation.left)):
        if isinstance(pattern, Terms) and is_pattern(pattern) and known.issuperset(variables(value)):
            return TakeApart(pattern, value)
    return None


def _solve(equation: Comparison, known: set[Variable]) -> Bind | None:
    unknown = [variable for variable in variables_of(equation) if variable not in known]
    if equation.operator != "=" or len(unknown) != 1:
        return None
    target = unknown[0]
    side, other = equation.left, equation.right
    if target not in set(variables(side)):
        side, other = other, side
    while isinstance(side, Arithmetic):
        moved = _move_known(side, other, target in set(variables(side.left)))
        if moved is None:
            return None
        side, other = moved
    return Bind(target, other, integer=True) if side == target else None


def _move_known(side: Arithmetic, other: Term, unknown_left: bool) -> tuple[Term, Term] | None:
    """Move the known half of a sum or difference to the other side."""
    ways: dict[tuple[str, bool], Callable[[], tuple[Term, Term]]] = {
        ("+", True): lambda: (side.left, Arithmetic("-", other, side.right)),
        ("+", False): lambda: (side.right, Arithmetic("-", other, side.left)),
        ("-", True): lambda: (side.left, Arithmetic("+", other, side.right)),
        ("-", False): lambda: (side.right, Arithmetic("-", side.left, other)),
    }
    way = ways.get((side.operator, unknown_left))
    return way() if way else None
