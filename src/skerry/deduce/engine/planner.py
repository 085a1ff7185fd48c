"""Which way to go through a rule's body: for each change a plan, and one from the head back."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import cast

from skerry.deduce.engine.bindings import Setting
from skerry.deduce.engine.equations import terms_of
from skerry.deduce.engine.evaluation import Evaluation, type_of
from skerry.deduce.engine.plan import Plan
from skerry.deduce.engine.plan_builder import PlanBuilder, Scope
from skerry.model.term import Term
from skerry.plan.program import Atom, Predicate, Rule, Subgoal, Type

__all__ = ["Planner"]


class Planner:
    """Makes the plans of one rule.

    ``ranked`` names the predicates that are settled together with its head, ``own`` those of its component.
    """

    def __init__(
        self,
        setting: Setting,
        predicates: Mapping[str, Predicate],
        rule: Rule,
        ranked: Collection[str],
        own: Collection[str],
    ) -> None:
        self.rule, self._setting, self._own = rule, setting, own
        atoms = [subgoal for subgoal in rule.body if isinstance(subgoal, Atom) and not subgoal.negated]
        self._relations = [setting.relations[atom.predicate] for atom in atoms]
        written = Scope(rule, setting, Evaluation(setting), predicates, ranked, {})
        builder = PlanBuilder(written, written=True)
        builder.add_body(rule.body)
        self._scope = replace(written, natural=dict(builder.known), solutions=builder.solutions)

    def forward(self, delta: int | None, head: Iterable[tuple[Term, Type]]) -> Plan:
        """From rows of one subgoal, or from nothing, to the head.

        Where several subgoals have changed, that of the last is the one to find a derivation: in relations after it
        only what has not changed is looked at. (Not so for predicates that are still being settled.)
        """
        builder = PlanBuilder(self._scope)
        if delta is not None:
            atom = cast(Atom, self.rule.body[delta])
            builder.start_from(terms_of(atom), self.types(atom.predicate), stored=False)
            if atom.predicate not in self._own:
                builder.unchanged = [each for each in self.rule.body[delta + 1 :] if self._is_outside(each)]
        builder.add_body(subgoal for index, subgoal in enumerate(self.rule.body) if index != delta)
        return builder.build(tuple(head))

    def backward(
        self, given: Iterable[tuple[Term, Type]], head: Iterable[tuple[Term, Type]] = (), every: bool = False
    ) -> Plan:
        """From rows of the head, or some of its columns, to bindings that derive them: one of each, or every one."""
        builder = PlanBuilder(self._scope)
        columns = tuple(given)
        builder.start_from([term for term, _ in columns], [type_ for _, type_ in columns], stored=True)
        builder.add_body(self.rule.body)
        return builder.build(tuple(head), every=every)

    def _is_outside(self, subgoal: Subgoal) -> bool:
        return isinstance(subgoal, Atom) and not subgoal.negated and subgoal.predicate not in self._own

    def types(self, predicate: str) -> tuple[Type, ...]:
        """The types of a predicate's columns."""
        return self._scope.types(predicate)

    def type_of(self, term: Term) -> Type:
        """The type that a term has, with the variables of the body."""
        return type_of(self._setting, term, self._scope.natural)

    def sizes(self) -> tuple[int, ...]:
        """About how large the relations of the body are, and what is known of them: other plans may be better then."""
        return tuple([part for each in self._relations for part in (each.size.bit_length() // 3, len(each.indexes))])
