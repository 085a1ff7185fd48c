"""The checks before a program runs: one file per check, in this order."""

from dataclasses import replace

from skerry.deduce.checks.check_types import check_types, fit_constants
from skerry.deduce.checks.compare_kinds import check_kinds, check_kinds_of_facts
from skerry.deduce.checks.derived_windows import ask_windows, declare_windows
from skerry.deduce.checks.ground_graph import ground
from skerry.deduce.checks.infer_types import infer_types
from skerry.deduce.checks.normalise import normalise
from skerry.deduce.checks.safety import check_safety
from skerry.deduce.checks.signatures import find_outputs, find_signatures
from skerry.deduce.checks.stages import classify
from skerry.deduce.checks.strata import find_parts
from skerry.deduce.checks.termination import check_termination
from skerry.deduce.checks.windows import check_streams
from skerry.plan.program import Checked, Class, Component, Predicate, Program

__all__ = ["check", "check_kinds_of_facts", "check_streams"]


def check(program: Program) -> Checked:
    """Find out how a program is to be kept true, or refuse it with the reason: a ``RuleError``."""
    rules = ask_windows(normalise(program.rules), program.predicates)
    predicates = find_signatures(replace(program, predicates=declare_windows(program.predicates)), rules)
    check_safety(program.rules, rules)
    typing = infer_types(predicates, rules, program.functions)
    check_types(rules, typing, program.functions)
    check_kinds(rules, typing, program.functions)
    rules = tuple(fit_constants(rule, typing.predicates) for rule in rules)
    components, added = list[Component](), dict[str, Predicate]()
    for part in find_parts(rules):
        found = classify(part, typing)
        check_termination(part, found, typing)
        if found.component.kind is Class.L:
            grounding = ground(part, found.component, typing.predicates)
            components += [*grounding.before, grounding.component]
            added |= grounding.predicates
        else:
            components.append(found.component)
    stages = {name: column for component in components for name, column in component.stages.items()}
    known = {name: replace(each, stage=stages.get(name, each.stage)) for name, each in typing.predicates.items()}
    return Checked(program, known | added, tuple(components), find_outputs(program, known))
