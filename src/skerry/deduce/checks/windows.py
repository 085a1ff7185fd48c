"""A join over streams without end needs windows. E303."""

from collections.abc import Collection

from skerry.errors import RuleError
from skerry.plan.program import Atom, Checked, Rule

__all__ = ["check_streams"]


def check_streams(checked: Checked, streams: Collection[str]) -> None:
    """Refuse rules that join what streams without a window bring: it would have to be kept for ever.

    ``streams`` names the base predicates that are read from streams; the others are tables.
    """
    endless = {
        name
        for name in streams
        if checked.predicates[name].window_us is None and checked.predicates[name].window_rows is None
    }
    for component in checked.components:
        for rule in component.rules:
            _check(rule, endless)
        found = any(atom.predicate in endless for rule in component.rules for atom in _atoms(rule))
        endless |= set(component.predicates) if found else set()


def _atoms(rule: Rule) -> list[Atom]:
    return [subgoal for subgoal in rule.body if isinstance(subgoal, Atom)]


def _check(rule: Rule, endless: Collection[str]) -> None:
    atoms = _atoms(rule)
    unbounded = [atom for atom in atoms if atom.predicate in endless]
    if len(atoms) > 1 and unbounded:
        message = f"a join over {unbounded[0].predicate!r}, a stream without a window"
        raise RuleError(
            "E303", message, "declare one: window 60 s", rule.number, unbounded[0].location or rule.location
        )
