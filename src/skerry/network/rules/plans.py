"""In which order a mote takes the subgoals of a rule when a tuple of one of them is new."""

from collections.abc import Mapping
from dataclasses import dataclass

from skerry.deduce.subgoal_order import Match, Step, variables_of
from skerry.model.term import Variable
from skerry.network.rules.node_program import NodeProgram, NodeRule, Range
from skerry.network.rules.ranges import order_with_ranges

__all__ = ["Plan", "PlannedStep", "list_plans"]


@dataclass(frozen=True)
class PlannedStep:
    """A step; one that looks tuples up says which positive subgoal that is."""

    step: Step | Range
    subgoal: int | None


@dataclass(frozen=True)
class Plan:
    """How a rule is joined from one subgoal on; from none, where its body joins nothing that comes and goes."""

    rule: NodeRule
    start: int | None
    steps: tuple[PlannedStep, ...]


def list_plans(program: NodeProgram) -> Mapping[str | None, tuple[Plan, ...]]:
    """Plans by the predicate of the new tuple; under None those of rules that are joined at the start."""
    found: dict[str | None, list[Plan]] = {None: []}
    for rule in program.rules:
        starts = [index for index, atom in enumerate(rule.positives) if program.schemas[atom.predicate].known is None]
        for start in starts:
            found.setdefault(rule.positives[start].predicate, []).append(_plan(rule, start))
        if not starts:
            found[None].append(_plan(rule, None))
    return {name: tuple(plans) for name, plans in found.items()}


def _plan(rule: NodeRule, start: int | None) -> Plan:
    rest = [atom for index, atom in enumerate(rule.positives) if index != start]
    bound = [] if start is None else variables_of(rule.positives[start])
    site = [rule.site.term] if isinstance(rule.site.term, Variable) else []
    known = [variable.name for variable in (*bound, *site)]
    ordered = order_with_ranges((*rest, *rule.conditions), rule.ranges, known)
    subgoals = {id(atom): index for index, atom in enumerate(rule.positives)}
    return Plan(
        rule,
        start,
        tuple(PlannedStep(step, subgoals[id(step.atom)] if isinstance(step, Match) else None) for step in ordered),
    )
