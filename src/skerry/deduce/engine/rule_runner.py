"""What a rule derives from changed rows, and whether it derives given ones: its plans, made when first needed."""

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
from skerry.errors import RuleLimit
from skerry.model.arrays import Bools, Int64s
from skerry.model.term import Term
from skerry.plan.program import Aggregate, Atom, Predicate, Rule, Type

__all__ = ["Derivation", "Heads"]

Heads = Iterator[tuple[Int64s, Int64s | None]]
"""Rows in pieces, with the greatest rank of what each rests on if that is asked for."""


class Derivation:
    """One rule. Where its head gathers, its rows are those of the groups' columns alone."""

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
        columns = [(place, term, type_) for place, (term, type_) in arguments if not isinstance(term, Aggregate)]
        self.columns = tuple(place for place, _, _ in columns)
        """Which columns of the head are not gathered."""
        self.head: tuple[tuple[Term, Type], ...] = tuple((term, type_) for _, term, type_ in columns)
        self._plans: dict[object, tuple[object, Plan]] = {}
        self._choice = len([each for each in rule.body if isinstance(each, Atom) and not each.negated]) > 1

    @property
    def atoms(self) -> Iterator[tuple[int, Atom]]:
        """The relations of its body, with their places."""
        return ((place, each) for place, each in enumerate(self.rule.body) if isinstance(each, Atom))

    def from_nothing(self) -> Heads:
        """What it derives from all that is there now."""
        return self._admitted(self.forward(None).heads(np.empty((1, 0), np.int64), NEW, {}))

    def gained(self, place: int, rows: Int64s, ranks: Int64s | None = None) -> Heads:
        """What it derives now from rows of the subgoal at a place."""
        return self._forward(place, rows, NEW, {} if ranks is None else {RANK: ranks})

    def lost(self, place: int, rows: Int64s) -> Heads:
        """What it derived before the tick from rows of the subgoal at a place."""
        return self._forward(place, rows, OLD, {})

    def holds(self, rows: Int64s, below: Int64s | None = None) -> Bools:
        """Which rows of its head it derives now, from inputs below given ranks if there are any."""
        found = np.zeros(len(rows), np.bool_)
        beside = {ORIGIN: np.arange(len(rows))} | ({} if below is None else {BELOW: below})
        for frame in self.backward().bindings(rows, NEW, beside, found):
            found[frame.columns[ORIGIN]] = True
        return found

    def ranked(self, rows: Int64s) -> tuple[Bools, Int64s]:
        """Which rows it derives now, and a rank that no input of a derivation passes."""
        found, ranks = np.zeros(len(rows), np.bool_), np.full(len(rows), -LOWEST)
        beside = {ORIGIN: np.arange(len(rows)), RANK: np.full(len(rows), LOWEST)}
        for frame in self.backward().bindings(rows, NEW, beside, found):
            origins = frame.columns[ORIGIN]
            found[origins] = True
            np.minimum.at(ranks, origins, frame.columns[RANK])
        return found, ranks

    def contributions(self, rows: Int64s, arguments: tuple[tuple[Term, Type], ...]) -> Iterator[tuple[Int64s, Int64s]]:
        """What the bindings of each group give for some terms: which group, and a row of codes."""
        make = partial(self._planner.backward, self.head, arguments, every=True)
        plan = self._plan("contributions", make)
        for frame in plan.bindings(rows, NEW, {ORIGIN: np.arange(len(rows))}):
            codes, valid = plan.row(frame)
            origins = frame.columns[ORIGIN]
            yield (origins, codes) if valid is None else (origins[valid], codes[valid])

    def forward(self, place: int | None) -> Plan:
        """From rows of the subgoal at a place, or from nothing, to the head."""
        return self._plan(place, partial(self._planner.forward, place, self.head))

    def backward(self) -> Plan:
        """From rows of the head to a derivation."""
        return self._plan("backward", partial(self._planner.backward, self.head))

    def natural(self, term: Term) -> Type:
        """The type that a term has in the body."""
        return self._planner.type_of(term)

    def admit(self, codes: Int64s, columns: tuple[int, ...]) -> Bools | None:
        """Which rows the declared limits let pass; a row beyond the program's own stops it."""
        valid: Bools | None = None
        for place, column in enumerate(columns):
            type_ = self._predicate.columns[column].type
            if kind_of(type_) is Kind.NUMBERED and self.setting.encoding.too_large:
                self._refuse(codes[:, place])
            if column in self._predicate.limits:
                within = self._sizes_of(codes[:, place], type_) <= self._predicate.limits[column]
                valid = both(valid, within)
        return valid

    def _refuse(self, codes: Int64s) -> None:
        large = self.setting.encoding.too_large
        for number in np.unique(codes).tolist():
            if number in large:
                told = f"{large[number]} in {self._predicate.name!r}"
                raise RuleLimit(told, "declare a limit on its length", self.rule.number)

    def _sizes_of(self, codes: Int64s, type_: Type) -> npt.NDArray[Any]:
        return self.setting.encoding.sizes(Vector(np.ascontiguousarray(codes), type_))

    def _forward(self, place: int, rows: Int64s, want: int, beside: dict[str, Int64s]) -> Heads:
        return self._admitted(self.forward(place).heads(rows, want, beside))

    def _admitted(self, heads: Heads) -> Heads:
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
