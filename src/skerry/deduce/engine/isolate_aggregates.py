"""Gives every rule with aggregates a predicate of its own."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

from skerry.model.term import Variable
from skerry.plan.program import Atom, Component, Predicate, Rule

__all__ = ["isolate_aggregates"]

Kept = TypeVar("Kept")


def isolate_aggregates(component: Component, predicates: dict[str, Predicate]) -> Component:
    """Give every rule with aggregates that shares its head's predicate one of its own, from which the head is copied.

    The new predicates are added to ``predicates``.
    """
    shared = [rule for rule in component.rules if rule.aggregates and _is_shared(component, rule)]
    for rule in shared:
        component = _isolate(component, rule, predicates)
    return component


def _is_shared(component: Component, rule: Rule) -> bool:
    name = rule.head.predicate
    return sum(each.head.predicate == name for each in component.rules) > 1 or len(_group(component, name)) > 1


def _group(component: Component, name: str) -> tuple[str, ...]:
    return next((group for group in component.groups if name in group), (name,))


def _isolate(component: Component, rule: Rule, predicates: dict[str, Predicate]) -> Component:
    name = rule.head.predicate
    own = f"${name}/{rule.number}"
    predicates[own] = replace(predicates[name], name=own, declared=False)
    columns = tuple(Variable(f"$c{index}") for index in range(predicates[name].arity))
    aggregating = replace(rule, head=replace(rule.head, predicate=own))
    copies = Rule(Atom(name, columns), (Atom(own, columns),), rule.number, rule.text, rule.location)
    groups = component.groups or tuple((each,) for each in component.predicates)
    return replace(
        component,
        predicates=(own, *component.predicates),
        rules=(*(each for each in component.rules if each is not rule), aggregating, copies),
        stages=_with_own(component.stages, own, name),
        known=_with_own(component.known, own, name),
        candidates=_with_own(component.candidates, own, name),
        groups=tuple(part for group in groups for part in (((own,), group) if name in group else (group,))),
    )


def _with_own(by_name: Mapping[str, Kept], own: str, name: str) -> dict[str, Kept]:
    """What is kept by predicate, for a new one that stands before another."""
    return {own: by_name[name], **by_name} if by_name else {}
