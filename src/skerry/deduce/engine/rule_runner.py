"""Runs one rule: what it derives from changed rows, and whether it derives given ones. Plans are made when needed."""

from collections.abc import Collection, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from skerry.deduce.engine.bindings import BELOW, LOWEST, ORIGIN, RANK, Setting
from skerry.deduce.engine.encoding import Kind, Vector, both, kind_of
from skerry.deduce.engine.plan import Plan
from skerry.deduce.engine.planner import Planner
from skerry.deduce.engine.relation import NEW, OLD
from skerry.deduce.limits import too_long
from skerry.model.arrays import Bools, Int64s
from skerry.model.term import Term
from skerry.plan.program import Aggregate, Atom, Predicate, Rule, Type

__all__ = ["Heads", "RuleRunner"]

Heads = Iterator[tuple[Int64s, Int64s | None]]
"""Rows in pieces, with the greatest rank of what each rests on if that is asked for."""


class RuleRunner:
    """One rule with its plans. Where its head has aggregates, its rows are those of the grouping columns alone."""

    def __init__(
        self,
        setting: Setting,
        predicates: Mapping[str, Predicate],
        rule: Rule,
        ranked: Collection[str],
        own: Collection[str],
    ) -> None:
        self.rule, self.setting = rule, setting
        self._planner = Planner(setting, predicates, rule, ranked, own)
        self._predicate = predicates[rule.head.predicate]
        types = self._planner.types(rule.head.predicate)
        arguments = enumerate(zip(rule.head.arguments, types, strict=True))
        columns = [(index, term, type_) for index, (term, type_) in arguments if not isinstance(term, Aggregate)]
        self.columns = tuple(index for index, _, _ in columns)
        """Which columns of the head are not aggregates."""
        self.head: tuple[tuple[Term, Type], ...] = tuple((term, type_) for _, term, type_ in columns)
        self._plans: dict[object, tuple[object, Plan]] = {}
        self._choice = len([each for each in rule.body if isinstance(each, Atom) and not each.negated]) > 1

    @property
    def atoms(self) -> Iterator[tuple[int, Atom]]:
        """The atoms of its body, with their indexes there."""
        return ((index, each) for index, each in enumerate(self.rule.body) if isinstance(each, Atom))

    def derive_all(self) -> Heads:
        """What it derives from all that is there now."""
        return self._admit_heads(self.forward(None).heads(np.empty((1, 0), np.int64), NEW, {}))

    def derive_gained(self, index: int, rows: Int64s, ranks: Int64s | None = None) -> Heads:
        """What it derives now from rows of the subgoal at an index."""
        return self._forward(index, rows, NEW, {} if ranks is None else {RANK: ranks})

    def derive_lost(self, index: int, rows: Int64s) -> Heads:
        """What it derived before the tick from rows of the subgoal at an index."""
        return self._forward(index, rows, OLD, {})

    def derive_where(self, columns: tuple[int, ...], rows: Int64s) -> Heads:
        """What it derives now with given values in some columns of its head."""
        given = [each for column, each in zip(self.columns, self.head, strict=True) if column in columns]
        plan = self._plan(columns, partial(self._planner.backward, given, self.head))
        return self._admit_heads(plan.heads(rows, NEW, {}))

    def holds(self, rows: Int64s, below: Int64s | None = None) -> Bools:
        """Which rows of its head it derives now, from inputs below given ranks if there are any."""
        found = np.zeros(len(rows), np.bool_)
        beside = {ORIGIN: np.arange(len(rows))} | ({} if below is None else {BELOW: below})
        for bindings in self.backward().bindings(rows, NEW, beside, found):
            found[bindings.columns[ORIGIN]] = True
        return found

    def find_ranks(self, rows: Int64s) -> tuple[Bools, Int64s]:
        """Which rows it derives now, and a rank that no input of a derivation passes."""
        found, ranks = np.zeros(len(rows), np.bool_), np.full(len(rows), -LOWEST)
        beside = {ORIGIN: np.arange(len(rows)), RANK: np.full(len(rows), LOWEST)}
        for bindings in self.backward().bindings(rows, NEW, beside, found):
            origins = bindings.columns[ORIGIN]
            found[origins] = True
            np.minimum.at(ranks, origins, bindings.columns[RANK])
        return found, ranks

    def contributions(self, rows: Int64s, arguments: tuple[tuple[Term, Type], ...]) -> Iterator[tuple[Int64s, Int64s]]:
        """What the bindings of each group give for some terms: which group, and a row of codes."""
        make = partial(self._planner.backward, self.head, arguments, every=True)
        plan = self._plan("contributions", make)
        for bindings in plan.bindings(rows, NEW, {ORIGIN: np.arange(len(rows))}):
            codes, valid = plan.row(bindings)
            origins = bindings.columns[ORIGIN]
            yield (origins, codes) if valid is None else (origins[valid], codes[valid])

    def forward(self, index: int | None) -> Plan:
        """From rows of the subgoal at an index, or from nothing, to the head."""
        return self._plan(index, partial(self._planner.forward, index, self.head))

    def backward(self) -> Plan:
        """From rows of the head to a derivation."""
        return self._plan("backward", partial(self._planner.backward, self.head))

    def type_of(self, term: Term) -> Type:
        """The type that a term has in the body."""
        return self._planner.type_of(term)

    def admit(self, codes: Int64s, columns: tuple[int, ...]) -> Bools | None:
        """Which rows the declared limits let pass; a row beyond the program's own stops it."""
        valid: Bools | None = None
        for index, column in enumerate(columns):
            type_ = self._predicate.columns[column].type
            if kind_of(type_) is Kind.NUMBERED and self.setting.encoding.too_large:
                self._refuse(codes[:, index])
            if column in self._predicate.limits:
                within = self._sizes_of(codes[:, index], type_) <= self._predicate.limits[column]
                valid = both(valid, within)
        return valid

    def _refuse(self, codes: Int64s) -> None:
        large = self.setting.encoding.too_large
        for number in np.unique(codes).tolist():
            if number in large:
                raise too_long(f"{large[number]} in {self._predicate.name!r}", self.rule.number)

    def _sizes_of(self, codes: Int64s, type_: Type) -> npt.NDArray[Any]:
        return self.setting.encoding.sizes(Vector(np.ascontiguousarray(codes), type_))

    def _forward(self, index: int, rows: Int64s, want: int, beside: dict[str, Int64s]) -> Heads:
        return self._admit_heads(self.forward(index).heads(rows, want, beside))

    def _admit_heads(self, heads: Heads) -> Heads:
        for codes, ranks in heads:
            valid = self.admit(codes, self.columns)
            if valid is None:
                yield codes, ranks
            elif valid.any():
                yield codes[valid], None if ranks is None else ranks[valid]

    def _plan(self, which: object, make: "partial[Plan]") -> Plan:
        """A plan, made again when the relations have become much larger or smaller."""
        held = self._plans.get(which)
        if held is not None and not self._choice:
            return held[1]
        sizes = self._planner.sizes()
        if held is None or held[0] != sizes:
            held = self._plans[which] = (sizes, make())
        return held[1]
