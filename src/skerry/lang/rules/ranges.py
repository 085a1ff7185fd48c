"""``x in range(1, 10)``: the whole numbers from 1 to 9, as predicates of their own.

A range that stands in a rule becomes three rules. ``$asked`` holds the ends that the rest of the rule's body asks for,
with how many numbers are between them; ``$range`` the numbers from zero on, each from the one at half of it, so that
many take few rounds. What keeps rules true knows nothing of ranges.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from skerry.deduce.subgoal_order import order_partly, variables_of
from skerry.errors import RuleError
from skerry.model.term import Arithmetic, Constant, Term, Variable, variables
from skerry.plan.program import RANGE, Atom, Comparison, Rule, Subgoal

__all__ = ["PLACEHOLDER", "spell_out"]

PLACEHOLDER = "$range"
"""The predicate of a range as it is read: first, end, step, and the number."""

_LOW, _HIGH, _COUNT, _HALF, _INDEX = (Variable(f"${name}") for name in ("low", "high", "count", "half", "index"))


def spell_out(rules: Iterable[Rule]) -> tuple[Rule, ...]:
    """Rules with their ranges as predicates, whose rules come at the end."""
    written, added = list[Rule](), list[Rule]()
    for rule in rules:
        body = [each for each in rule.body if not _is_range(each)]
        waiting = [each for each in rule.body if isinstance(each, Atom) and _is_range(each)]
        count = len(waiting)
        while waiting:
            atom = _find_ready(rule, waiting, body)
            name = f"{rule.number}.{count - len(waiting) + 1}"
            waiting.remove(atom)
            added += [replace(each, location=atom.location) for each in _rules(rule, body, atom, name)]
            body += _ask(atom, name)
        written.append(replace(rule, body=tuple(body)))
    numbered = (replace(rule, number=number) for number, rule in enumerate(added, len(written) + 1))
    return (*written, *numbered)


def _is_range(subgoal: Subgoal) -> bool:
    return isinstance(subgoal, Atom) and subgoal.predicate == PLACEHOLDER


def _find_ready(rule: Rule, waiting: Sequence[Atom], body: Sequence[Subgoal]) -> Atom:
    """A range whose ends are known by the others, and by ranges before it."""
    bound = order_partly(body)[2]
    for atom in waiting:
        if bound.issuperset(_find_ends(atom)):
            return atom
    loose = next(variable.name for variable in _find_ends(waiting[0]) if variable not in bound)
    message, location = f"variable {loose!r} of a range is bound by nothing", waiting[0].location
    raise RuleError("E103", message, "use it in a positive subgoal", rule.number, location)


def _find_ends(atom: Atom) -> list[Variable]:
    return [variable for end in _terms(atom)[:2] for variable in variables(end)]


def _ask(atom: Atom, name: str) -> Iterator[Subgoal]:
    low, high, step, value = _terms(atom)
    index = Variable(f"$index {name}")
    yield Atom(f"{RANGE}{name}", (low, high, index), atom.negated, atom.location)
    yield Comparison("=", value, Arithmetic("+", low, Arithmetic("*", index, step)), atom.location)


def _rules(rule: Rule, body: Sequence[Subgoal], atom: Atom, name: str) -> Iterator[Rule]:
    low, high, step, _ = _terms(atom)
    size = step.value if isinstance(step, Constant) else 0
    if not isinstance(size, int) or isinstance(size, bool) or size == 0:
        message = "the step of a range is a whole number other than zero, written down"
        raise RuleError("E001", message, "write range(1, 10, 2)", rule.number, atom.location)
    asked, numbers = Atom(f"$asked {name}", (_LOW, _HIGH, _COUNT)), f"{RANGE}{name}"
    span = Arithmetic("-", high, low) if size > 0 else Arithmetic("-", low, high)
    count = Arithmetic("//", Arithmetic("+", span, Constant(abs(size) - 1)), Constant(abs(size)))
    relevant = _find_relevant(body, set(_find_ends(atom)))
    yield Rule(Atom(asked.predicate, (low, high, _COUNT)), (*relevant, Comparison("=", _COUNT, count)), 0)
    yield Rule(Atom(numbers, (_LOW, _HIGH, Constant(0))), (asked, Comparison(">", _COUNT, Constant(0))), 0)
    for child in (1, 2):
        at = Arithmetic("+", Arithmetic("*", Constant(2), _HALF), Constant(child))
        before = Atom(numbers, (_LOW, _HIGH, _HALF))
        within = Comparison("<", _INDEX, _COUNT)
        yield Rule(Atom(numbers, (_LOW, _HIGH, _INDEX)), (before, asked, Comparison("=", _INDEX, at), within), 0)


def _find_relevant(body: Sequence[Subgoal], needed: set[Variable]) -> list[Subgoal]:
    """The subgoals of a body that bind some variables: relations that hold them, or equations, and what these need."""
    atoms = [each for each in body if isinstance(each, Atom) and not each.negated]
    equations = [each for each in body if isinstance(each, Comparison) and each.operator == "="]
    matched = {variable for atom in atoms for variable in variables_of(atom)}
    chosen = list[Subgoal]()
    while True:
        open_ = needed - matched
        found = [each for each in equations if each not in chosen and open_ & set(variables_of(each))]
        if not found:
            return [atom for atom in atoms if needed & set(variables_of(atom))] + chosen
        chosen += found
        needed = needed | {variable for each in found for variable in variables_of(each)}


def _terms(atom: Atom) -> tuple[Term, Term, Term, Term]:
    low, high, step, value = (argument for argument in atom.arguments if isinstance(argument, Term))
    return low, high, step, value
