"""Keeps the predicates of a component true, once for all."""

from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from skerry.deduce.engine.aggregation import Gathering
from skerry.deduce.engine.bindings import LOWEST, Setting
from skerry.deduce.engine.predicate_group import Group, Stage
from skerry.deduce.engine.rule_runner import Derivation, Heads
from skerry.model.arrays import Int64s
from skerry.plan.program import Class, Component, Predicate, Rule

__all__ = ["Position", "Upkeep", "at_first", "derivations_of"]

Position = Group | Gathering


class Upkeep:
    """A component without stages: its groups one after the other."""

    def __init__(self, setting: Setting, predicates: Mapping[str, Predicate], component: Component) -> None:
        self.component, self._setting, self._predicates = component, setting, predicates
        groups = component.groups or tuple((predicate,) for predicate in component.predicates)
        self._positions = [self._position(group) for group in groups]
        self._inputs = {
            atom.predicate for each in self._positions for one in derivations_of(each) for _, atom in one.atoms
        }
        self._begun = False

    def settle(self) -> None:
        """Make the component true again, after what has changed below it."""
        if self._begun and not self._is_touched():
            return
        for position in self._positions:
            if isinstance(position, Gathering):
                keys = [codes for codes, _ in self._keys(position)]
                if keys:
                    position.settle(keys)
            else:
                position.settle(self._doubted(position), self._gained(position), Stage())
        self._begun = True

    def _is_touched(self) -> bool:
        return any(self._setting.relations[name].mark() for name in self._inputs)

    def _position(self, group: tuple[str, ...]) -> Position:
        rules = [rule for rule in self.component.rules if rule.head.predicate in group]
        if any(rule.aggregates for rule in rules):
            [rule], [name] = rules, group
            return Gathering(self._derivation(rule, ()), self._predicates[name], self._setting.relations[name])
        own = group if self.component.kind in (Class.S, Class.Y) else ()
        return Group(self._setting, group, [self._derivation(rule, own) for rule in rules], recursive=bool(own))

    def _derivation(self, rule: Rule, group: tuple[str, ...]) -> Derivation:
        own = self.component.predicates if self.component.stages else group
        return Derivation(self._setting, self._predicates, rule, group, own)

    def _keys(self, gathering: Gathering) -> Heads:
        derivation = gathering.derivation
        for place, rows, gains in self._changes(derivation, ()):
            yield from derivation.gained(place, rows) if gains else derivation.lost(place, rows)
        if not self._begun:
            yield from at_first(derivation)

    def _doubted(self, group: Group) -> Mapping[str, list[Int64s]]:
        doubted: dict[str, list[Int64s]] = {}
        for derivation in derivations_of(group):
            relation = self._setting.relations[derivation.rule.head.predicate]
            for place, rows, gains in self._changes(derivation, group.predicates):
                for codes, _ in () if gains else derivation.lost(place, rows):
                    found = relation.find(codes)
                    doubted.setdefault(relation.name, []).append(found[found >= 0])
        return doubted

    def _gained(self, group: Group) -> Iterator[tuple[Derivation, Heads]]:
        for derivation in derivations_of(group):
            for place, rows, gains in self._changes(derivation, group.predicates):
                if gains:
                    ranks = np.full(len(rows), LOWEST) if group.recursive else None
                    yield derivation, derivation.gained(place, rows, ranks)
            if not self._begun:
                yield derivation, at_first(derivation)

    def _changes(self, derivation: Derivation, own: Iterable[str]) -> Iterator[tuple[int, Int64s, bool]]:
        """The subgoals that changed from outside: place, rows, and whether that may derive something."""
        for place, atom in derivation.atoms:
            if atom.predicate in own:
                continue
            relation = self._setting.relations[atom.predicate]
            for rows, gains in ((relation.added(), not atom.negated), (relation.deleted(), atom.negated)):
                if rows.size:
                    yield place, relation.codes[rows], gains


def derivations_of(position: Position) -> list[Derivation]:
    """The rules of a position."""
    if isinstance(position, Gathering):
        return [position.derivation]
    return [derivation for each in position.derivations.values() for derivation in each]


def at_first(derivation: Derivation) -> Heads:
    """A rule without positive relations follows from no change: it is run once, at the beginning."""
    if all(atom.negated for _, atom in derivation.atoms):
        yield from derivation.from_nothing()
