"""Maintains a component without stages: its parts one after the other."""

from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from skerry.deduce.engine.aggregation import Aggregation
from skerry.deduce.engine.bindings import LOWEST, Setting
from skerry.deduce.engine.predicate_group import PredicateGroup, Stage
from skerry.deduce.engine.rule_runner import Heads, RuleRunner
from skerry.model.arrays import Int64s
from skerry.plan.program import Class, Component, Predicate, Rule

__all__ = ["GroupMaintenance", "Part", "derive_at_first", "runners_of"]

Part = PredicateGroup | Aggregation
"""What is settled as a whole: some predicates that need each other, or one with aggregates."""


class GroupMaintenance:
    """Makes the predicates of a component true again after each change; the base of the other kinds of maintenance."""

    def __init__(self, setting: Setting, predicates: Mapping[str, Predicate], component: Component) -> None:
        self.component, self._setting, self._predicates = component, setting, predicates
        groups = component.groups or tuple((predicate,) for predicate in component.predicates)
        self._parts = [self._make_part(group) for group in groups]
        self._inputs = {atom.predicate for each in self._parts for one in runners_of(each) for _, atom in one.atoms}
        self._begun = False

    def settle(self) -> None:
        """Make the component true again, after what has changed below it."""
        if self._begun and not self._is_touched():
            return
        for part in self._parts:
            if isinstance(part, Aggregation):
                keys = [codes for codes, _ in self._keys(part)]
                if keys:
                    part.settle(keys)
            else:
                part.settle(self._find_doubted(part), self._find_gained(part), Stage())
        self._begun = True

    def _is_touched(self) -> bool:
        return any(self._setting.relations[name].mark() for name in self._inputs)

    def _make_part(self, group: tuple[str, ...]) -> Part:
        rules = [rule for rule in self.component.rules if rule.head.predicate in group]
        if any(rule.aggregates for rule in rules):
            [rule], [name] = rules, group
            return Aggregation(self._make_runner(rule, ()), self._predicates[name], self._setting.relations[name])
        own = group if self.component.kind in (Class.S, Class.Y) else ()
        return PredicateGroup(
            self._setting, group, [self._make_runner(rule, own) for rule in rules], recursive=bool(own)
        )

    def _make_runner(self, rule: Rule, group: tuple[str, ...]) -> RuleRunner:
        own = self.component.predicates if self.component.stages else group
        return RuleRunner(self._setting, self._predicates, rule, group, own)

    def _keys(self, aggregation: Aggregation) -> Heads:
        runner = aggregation.runner
        for index, rows, gains in self._changes(runner, ()):
            yield from runner.derive_gained(index, rows) if gains else runner.derive_lost(index, rows)
        if not self._begun:
            yield from derive_at_first(runner)

    def _find_doubted(self, group: PredicateGroup) -> Mapping[str, list[Int64s]]:
        doubted: dict[str, list[Int64s]] = {}
        for runner in runners_of(group):
            relation = self._setting.relations[runner.rule.head.predicate]
            for index, rows, gains in self._changes(runner, group.predicates):
                for codes, _ in () if gains else runner.derive_lost(index, rows):
                    found = relation.find(codes)
                    doubted.setdefault(relation.name, []).append(found[found >= 0])
        return doubted

    def _find_gained(self, group: PredicateGroup) -> Iterator[tuple[RuleRunner, Heads]]:
        for runner in runners_of(group):
            for index, rows, gains in self._changes(runner, group.predicates):
                if gains:
                    ranks = np.full(len(rows), LOWEST) if group.recursive else None
                    yield runner, runner.derive_gained(index, rows, ranks)
            if not self._begun:
                yield runner, derive_at_first(runner)

    def _changes(self, runner: RuleRunner, own: Iterable[str]) -> Iterator[tuple[int, Int64s, bool]]:
        """The subgoals that changed from outside: index in the body, rows, and whether that may derive something."""
        for index, atom in runner.atoms:
            if atom.predicate in own:
                continue
            relation = self._setting.relations[atom.predicate]
            for rows, gains in ((relation.rows_added(), not atom.negated), (relation.rows_deleted(), atom.negated)):
                if rows.size:
                    yield index, relation.codes[rows], gains


def runners_of(part: Part) -> list[RuleRunner]:
    """The rules of a position."""
    if isinstance(part, Aggregation):
        return [part.runner]
    return [runner for each in part.runners.values() for runner in each]


def derive_at_first(runner: RuleRunner) -> Heads:
    """A rule without positive relations follows from no change: it is run once, at the beginning."""
    if all(atom.negated for _, atom in runner.atoms):
        yield from runner.derive_all()
