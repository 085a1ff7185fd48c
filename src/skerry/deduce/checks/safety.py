"""Every variable must be bound by the body. E101 and E103; E102 is found on the way into the engines' form."""

from collections.abc import Iterable

from skerry.deduce.rule_text import write_subgoal
from skerry.deduce.subgoal_order import order_partly, variables_of
from skerry.errors import RuleError
from skerry.model.term import Variable
from skerry.plan.program import Atom, Builtin, Rule, Subgoal

__all__ = ["check_safety"]


def check_safety(written: Iterable[Rule], normalised: Iterable[Rule]) -> None:
    """Refuse the first rule that has a variable nothing binds. Both are the same rules, in two forms."""
    for rule, form in zip(written, normalised, strict=False):
        _, waiting, bound = order_partly(form.body)
        for variable in variables_of(rule.head):
            if variable not in bound:
                raise _unbound_head(rule, variable)
        for subgoal in rule.body:
            loose = [variable for variable in variables_of(subgoal) if variable not in bound and variable.name != "_"]
            if waiting and loose:
                raise _unbound_input(rule, subgoal, loose[0])


def _unbound_head(rule: Rule, variable: Variable) -> RuleError:
    message = f"head variable {variable.name!r} is bound by nothing in the body"
    constant = f"a fact holds constants only: write the text as {variable.name!r}, or declare it const"
    fix = "use it in a positive subgoal" if rule.body else constant
    return RuleError("E101", message, fix, rule.number, rule.head.location or rule.location)


def _unbound_input(rule: Rule, subgoal: Subgoal, variable: Variable) -> RuleError:
    message = f"variable {variable.name!r} of {write_subgoal(subgoal)} is bound by nothing"
    fix = "use it in a positive subgoal"
    if isinstance(subgoal, Atom):
        fix += ", or write _ if any value will do"
    if isinstance(subgoal, Builtin):
        fix += "; built-ins bind none of their inputs"
    return RuleError("E103", message, fix, rule.number, subgoal.location or rule.location)
