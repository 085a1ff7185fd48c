"""Which programs cannot run in a network, and why: E501, E502 and E503."""

from collections.abc import Iterable, Iterator

from skerry.deduce.change import Tick
from skerry.deduce.checks.graph import strong_parts
from skerry.errors import RuleError
from skerry.plan.program import RANGE, Aggregate, Atom, Checked, Class, Component, Rule

__all__ = ["refuse_facts", "refuse_program"]

_KINDS = {
    Class.Y: "positive recursion inside a stage",
    Class.L: "an order of tuples that only the facts settle",
}


def refuse_program(checked: Checked) -> None:
    """Refuse what sets of derivations cannot keep true, what need not end, and windows that count rows."""
    for component in checked.components:
        if component.kind in _KINDS:
            message = f"{component.predicates[0]!r} needs {_KINDS[component.kind]}, which motes cannot keep true"
            fix = "use a stage that rises in every recursive rule, or run it in process"
            raise RuleError("E501", message, fix, component.rules[0].number)
        if component.kind is Class.X and not component.falling:
            _refuse_endless(checked, component)
    for rule in checked.rules:
        host = checked.predicates[rule.head.predicate].host
        if host is not None and isinstance(rule.head.arguments[host], Aggregate):
            message = f"the host of {rule.head.predicate!r} is an aggregate, and a group has one home"
            raise RuleError("E501", message, "let the host be a column that groups", rule.number, rule.location)
    for name, predicate in checked.predicates.items():
        if predicate.window_rows is not None:
            message = f"{name!r} has a window of rows, and no mote sees all of them"
            raise RuleError("E503", message, "write window 60 s", location=predicate.location)


def refuse_facts(checked: Checked, ticks: Iterable[Tick]) -> None:
    """Refuse positive recursion without a stage where something may be withdrawn: a cycle would hold itself up.

    The numbers of a range cannot: each comes from a smaller one.
    """
    deleted = {name for tick in ticks for name, rows in tick.deletes.items() if rows}
    for component in checked.components:
        if component.kind is Class.S and not all(name.startswith(RANGE) for name in component.predicates):
            reason = next(_find_withdrawals(checked, component, deleted), None)
            if reason is not None:
                message = f"{component.predicates[0]!r} is recursive without a stage, and {reason}"
                fix = "motes would keep what only supports itself; declare a stage, or run it in process"
                raise RuleError("E501", message, fix, component.rules[0].number)


def _refuse_endless(checked: Checked, component: Component) -> None:
    """Every cycle of predicates needs one whose stage has a limit."""
    free = [name for name in component.predicates if component.stages[name] not in checked.predicates[name].limits]
    needs = {
        name: [atom.predicate for atom in _atoms(component.rules, name) if atom.predicate in free] for name in free
    }
    for part in strong_parts(free, needs.__getitem__):
        if len(part) > 1 or part[0] in needs[part[0]]:
            column = checked.predicates[part[0]].columns[component.stages[part[0]]].name
            rule = next(rule for rule in component.rules if rule.head.predicate == part[0])
            message, fix = f"in a network the recursion of {part[0]!r} needs a limit", f"declare limit {column} <= 64"
            raise RuleError("E502", message, fix, rule.number, rule.location)


def _atoms(rules: Iterable[Rule], head: str) -> Iterator[Atom]:
    for rule in rules:
        if rule.head.predicate == head:
            yield from (subgoal for subgoal in rule.body if isinstance(subgoal, Atom))


def _find_withdrawals(checked: Checked, component: Component, deleted: set[str]) -> Iterator[str]:
    """What may take something back from a component, or from what it needs."""
    reached, waiting = set[str](), list(component.predicates)
    while waiting:
        name = waiting.pop()
        if name in reached:
            continue
        reached.add(name)
        if name in deleted:
            yield f"facts of {name!r} are deleted"
        if checked.predicates[name].window_us is not None:
            yield f"{name!r} has a window"
        for rule in (rule for rule in checked.rules if rule.head.predicate == name):
            if rule.aggregates:
                yield f"rule {rule.number} aggregates"
            for atom in (subgoal for subgoal in rule.body if isinstance(subgoal, Atom)):
                if atom.negated:
                    yield f"rule {rule.number} needs NOT {atom.predicate}"
                waiting.append(atom.predicate)
