"""A mote's join: which derivations a new tuple completes, with what the mote knows."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import cast

from skerry.deduce.evaluate import Binding, Calls, match_patterns
from skerry.deduce.subgoal_order import Match, Step
from skerry.deduce.values import Row, row_key
from skerry.deduce.why.solver import Solver, steps
from skerry.deduce.why.tables import Tables
from skerry.model.term import Constant, Term, Variable, variables
from skerry.network.rules.node_program import Denial, Range, TupleId
from skerry.network.rules.plans import Plan
from skerry.network.rules.ranges import count_up, identify
from skerry.network.rules.store import Store, Stored
from skerry.plan.program import Atom, Subgoal

__all__ = ["Found", "Join"]


@lru_cache(maxsize=1_024)
def _order(conditions: tuple[Subgoal, ...], bound: tuple[str, ...]) -> tuple[Step, ...]:
    return steps(conditions, bound)


@dataclass(frozen=True)
class Found:
    """A derivation's positive part: the tuples, one per subgoal, numbers of ranges, and what they bind."""

    ids: tuple[TupleId, ...]
    binding: Binding
    expiry_us: int | None


class Join:
    """Joins over one mote's store. ``mote`` is the number that a rule's site is compared with."""

    def __init__(self, mote: int, store: Store, calls: Calls, unit: int) -> None:
        self._mote, self._store = mote, store
        self.solver = Solver(Tables({}), calls, unit)

    def find(self, plan: Plan, new: Stored | None) -> Iterator[Found]:
        """The derivations that a new tuple is part of, at the subgoal at which the plan starts."""
        binding = self._bind_site(plan)
        if binding is None:
            return
        chosen: list[Stored | None] = [None] * len(plan.rule.positives)
        if new is not None and plan.start is not None:
            if plan.start == plan.rule.site.anchor and not new.is_own:
                return
            atom = plan.rule.positives[plan.start]
            binding = match_patterns(cast(tuple[Term, ...], atom.arguments), new.row, binding)
            chosen[plan.start] = new
        if binding is not None:
            yield from self._extend(plan, 0, binding, chosen)

    def match(self, atom: Atom, binding: Binding, own: bool, dropped: bool = False) -> Iterator[tuple[Stored, Binding]]:
        """The tuples that an atom matches under a binding, and what they bind.

        If asked, those that live here alone, and those that were dropped and are still remembered too.
        """
        terms = cast(tuple[Term, ...], atom.arguments)
        known = tuple(
            column for column, term in enumerate(terms) if all(each.name in binding for each in variables(term))
        )
        values = self.solver.evaluator.row([terms[column] for column in known], binding)
        if values is None:
            return
        buried = self._store.buried(atom.predicate) if dropped else ()
        for stored in (*self._store.match(atom.predicate, known, values), *buried):
            bound = match_patterns(terms, stored.row, binding) if stored.is_own or not own else None
            if bound is not None:
                yield stored, bound

    def find_denied(self, predicate: str, row: Row, denial: Denial | None, own: bool) -> Stored | None:
        """A tuple that is known here and denied: this row, or, by an open denial, any under what the row gives.

        If asked, of those that live here alone.
        """
        if denial is None:
            same = self._store.match(predicate, tuple(range(len(row))), row)
            mine = (each for each in same if each.is_own or not own)
            return next((each for each in mine if row_key(each.row) == row_key(row)), None)
        given = dict(zip(denial.given or (), row, strict=True))
        for stored, bound in self.match(denial.atom, given, own):
            if next(self.solver.solutions(_order(denial.conditions, tuple(bound)), bound), None) is not None:
                return stored
        return None

    def solutions(self, steps: Sequence[Step | Range], binding: Binding) -> Iterator[Binding]:
        """All bindings that extend a given one, by steps that look no tuples up."""
        if not steps:
            yield binding
            return
        for bound in self._take_step(steps[0], binding):
            yield from self.solutions(steps[1:], bound)

    def _take_step(self, step: Step | Range, binding: Binding) -> Iterator[Binding]:
        if isinstance(step, Range):
            return count_up(step, self.solver.evaluator, binding)
        return self.solver.take_step(step, binding)

    def _bind_site(self, plan: Plan) -> Binding | None:
        """What is bound at the start; None if the rule is not joined here."""
        match plan.rule.site.term:
            case Variable(name):
                return {name: self._mote}
            case Constant(value):
                return {} if type(value) is int and value == self._mote else None
        return {}

    def _extend(self, plan: Plan, index: int, binding: Binding, chosen: list[Stored | None]) -> Iterator[Found]:
        if index == len(plan.steps):
            tuples = cast(list[Stored], chosen)
            ends = [each.expiry_us for each in tuples if each.expiry_us is not None]
            ids = (*(each.id for each in tuples), *identify(plan.rule.ranges, binding))
            yield Found(ids, binding, min(ends, default=None))
            return
        planned = plan.steps[index]
        if planned.subgoal is None or not isinstance(planned.step, Match):
            for bound in self._take_step(planned.step, binding):
                yield from self._extend(plan, index + 1, bound, chosen)
            return
        for stored, bound in self.match(planned.step.atom, binding, planned.subgoal == plan.rule.site.anchor):
            chosen[planned.subgoal] = stored
            yield from self._extend(plan, index + 1, bound, chosen)
