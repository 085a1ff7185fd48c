"""Rules that find out, tuple by tuple, what needs what: where no stage settles a component, the facts may (class L).

A program is locally stratified if no tuple needs itself through NOT or an aggregate, though its predicate may. For
each predicate ``p`` of such a component, ``$may p`` holds what its tuples may be: its rules without what is negated.
For each recursive subgoal, a relation ``$needs`` holds which tuple needs which. Both are positive, so they are kept
true like any other predicate, before the component itself is settled in the order that they give.

What comes out of an aggregate is not known before. A column that may hold such a value is left out of these relations:
what they say to need each other is more than what does.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from skerry.deduce.checks.graph import strong_parts
from skerry.deduce.checks.strata import Edge, Part, find_parts
from skerry.deduce.subgoal_order import order_partly, variables_of
from skerry.model.term import Term, Variable, variables
from skerry.plan.program import (
    Aggregate,
    Atom,
    Class,
    Column,
    Comparison,
    Component,
    Dependency,
    Predicate,
    Rule,
    Subgoal,
    fresh,
)

__all__ = ["Grounding", "find_known_columns", "ground", "needs_itself"]

Known = Mapping[str, tuple[int, ...]]
"""By predicate, the columns whose values are known before the component is settled."""


@dataclass(frozen=True)
class Grounding:
    """A component with what says in which order its tuples are settled: predicates and components that come before."""

    component: Component
    predicates: Mapping[str, Predicate]
    before: tuple[Component, ...]


def find_known_columns(part: Part) -> dict[str, tuple[int, ...]]:
    """The columns into which no rule puts what comes out of an aggregate of the part, at once or by way of another."""
    widths = {rule.head.predicate: len(rule.head.arguments) for rule in part.rules}
    known = {name: tuple(range(widths[name])) for name in part.predicates}
    while True:
        found = dict(known)
        for rule in part.rules:
            bound = _find_bound(rule, known)
            name = rule.head.predicate
            found[name] = tuple(column for column in found[name] if _is_known(rule.head.arguments[column], bound))
        if found == known:
            return known
        known = found


def needs_itself(part: Part, known: Known) -> bool:
    """Whether tuples need themselves through NOT or an aggregate whatever the facts are.

    So it is where, around a cycle, heads and subgoals have the same arguments.
    """
    same = [edge for edge in part.inside if _pick(edge.rule.head, known) == _pick(edge.subgoal, known)]
    needs: dict[str, list[str]] = {name: [] for name in part.predicates}
    for edge in same:
        needs[edge.rule.head.predicate].append(edge.subgoal.predicate)
    number = {name: index for index, names in enumerate(strong_parts(needs, needs.__getitem__)) for name in names}
    return any(edge.negative and number[edge.rule.head.predicate] == number[edge.subgoal.predicate] for edge in same)


def ground(part: Part, component: Component, predicates: Mapping[str, Predicate]) -> Grounding:
    """Add the relations that say what a component's tuples may be, and which of them need which."""
    known = component.known
    candidates = {name: f"$may {name}" for name in component.predicates}
    added = {each: _candidates(predicates[name], each, known[name]) for name, each in candidates.items()}
    rules = [_candidate_rule(rule, known) for rule in part.rules]
    needs = []
    for edge in part.inside:
        dependency, rule = _dependency(edge, known)
        heads = [predicates[edge.rule.head.predicate], predicates[edge.subgoal.predicate]]
        types = [each.columns[column].type for each in heads for column in known[each.name]]
        columns = tuple(Column(f"c{number}", type_) for number, type_ in enumerate(types, 1))
        added[dependency.relation] = Predicate(dependency.relation, columns, base=False, declared=False)
        needs.append(dependency)
        rules.append(rule)
    before = tuple(_positive(each, part.stratum) for each in find_parts(rules))
    return Grounding(replace(component, candidates=candidates, needs=tuple(needs)), added, before)


def _positive(part: Part, stratum: int) -> Component:
    kind = Class.S if part.inside else Class.N
    return Component(part.predicates, part.rules, kind, stratum, groups=(part.predicates,))


def _candidates(predicate: Predicate, name: str, known: Sequence[int]) -> Predicate:
    columns = tuple(predicate.columns[column] for column in known)
    limits = {known.index(column): most for column, most in predicate.limits.items() if column in known}
    return Predicate(name, columns, base=False, declared=False, limits=limits)


def _candidate_rule(rule: Rule, known: Known) -> Rule:
    return replace(rule, head=_candidate(rule.head, known), body=_positive_body(rule, known))


def _dependency(edge: Edge, known: Known) -> tuple[Dependency, Rule]:
    """The relation of a head and one of its subgoals, and the rule for it."""
    rule, (number, index) = edge.rule, edge.key
    name = f"$needs {rule.head.predicate} {number}.{index}"
    body, head = _positive_body(rule, known), _pick(rule.head, known)
    taken = {variable.name for part in (rule.head, *rule.body) for variable in variables_of(part)}
    bound = order_partly(body)[2]
    asked = [(fresh("n", taken), term) for term in _pick(edge.subgoal, known)]
    equal = [Comparison("=", name, term) for name, term in asked if bound.issuperset(variables(term))]
    needed = tuple(name for name, _ in asked)
    found = Atom(f"$may {edge.subgoal.predicate}", needed)
    made = replace(rule, head=Atom(name, (*head, *needed)), body=(*body, found, *equal))
    return Dependency(name, rule.head.predicate, edge.subgoal.predicate, rule, edge.negative), made


def _positive_body(rule: Rule, known: Known) -> tuple[Subgoal, ...]:
    """A body without what is negated inside the component, and without tests of what is not known."""
    body = [
        _candidate(each, known) if isinstance(each, Atom) and each.predicate in known else each
        for each in rule.body
        if not (isinstance(each, Atom) and each.negated and each.predicate in known)
    ]
    untested = {id(each) for each in order_partly(body)[1]}
    return tuple(each for each in body if id(each) not in untested)


def _find_bound(rule: Rule, known: Known) -> frozenset[Variable]:
    return order_partly(_positive_body(rule, known))[2]


def _candidate(atom: Atom, known: Known) -> Atom:
    return Atom(f"$may {atom.predicate}", _pick(atom, known), location=atom.location)


def _pick(atom: Atom, known: Known) -> tuple[Term, ...]:
    """The arguments in known columns."""
    chosen = (atom.arguments[column] for column in known[atom.predicate])
    return tuple(term for term in chosen if not isinstance(term, Aggregate))


def _is_known(argument: Term | Aggregate, bound: frozenset[Variable]) -> bool:
    return not isinstance(argument, Aggregate) and bound.issuperset(variables(argument))
