"""Keeps the predicates of a component true: once for all, or stage by stage."""

import heapq
from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from skerry.deduce.engine.cells import Bools, Int64s, Vector
from skerry.deduce.engine.derivation import Derivation, Heads
from skerry.deduce.engine.frames import LOWEST, Setting
from skerry.deduce.engine.gathering import Gathering
from skerry.deduce.engine.group import Group, Stage
from skerry.deduce.engine.relation import NEW, Relation
from skerry.deduce.guard import too_many_stages
from skerry.deduce.program import Class, Component, Predicate, Rule

__all__ = ["ByStages", "Upkeep", "upkeep"]

Position = Group | Gathering


def upkeep(setting: Setting, predicates: Mapping[str, Predicate], component: Component) -> "Upkeep":
    """What keeps a component true."""
    return (ByStages if component.stages else Upkeep)(setting, predicates, component)


class Upkeep:
    """A component without stages: its groups one after the other."""

    def __init__(self, setting: Setting, predicates: Mapping[str, Predicate], component: Component) -> None:
        self.component, self._setting, self._predicates = component, setting, predicates
        groups = component.groups or tuple((predicate,) for predicate in component.predicates)
        self._positions = [self._position(group) for group in groups]
        self._inputs = {
            atom.predicate for each in self._positions for one in _derivations(each) for _, atom in one.atoms
        }
        self._begun = False

    def settle(self) -> None:
        """Make the component true again, after what has changed below it."""
        if self._begun and not self._is_touched():
            return
        for position in self._positions:
            if isinstance(position, Gathering):
                keys = [cells for cells, _ in self._keys(position)]
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
            yield from _at_first(derivation)

    def _doubted(self, group: Group) -> Mapping[str, list[Int64s]]:
        doubted: dict[str, list[Int64s]] = {}
        for derivation in _derivations(group):
            relation = self._setting.relations[derivation.rule.head.predicate]
            for place, rows, gains in self._changes(derivation, group.predicates):
                for cells, _ in () if gains else derivation.lost(place, rows):
                    found = relation.find(cells)
                    doubted.setdefault(relation.name, []).append(found[found >= 0])
        return doubted

    def _gained(self, group: Group) -> Iterator[tuple[Derivation, Heads]]:
        for derivation in _derivations(group):
            for place, rows, gains in self._changes(derivation, group.predicates):
                if gains:
                    ranks = np.full(len(rows), LOWEST) if group.recursive else None
                    yield derivation, derivation.gained(place, rows, ranks)
            if not self._begun:
                yield derivation, _at_first(derivation)

    def _changes(self, derivation: Derivation, own: Iterable[str]) -> Iterator[tuple[int, Int64s, bool]]:
        """The subgoals that changed from outside: place, rows, and whether that may derive something."""
        for place, atom in derivation.atoms:
            if atom.predicate in own:
                continue
            relation = self._setting.relations[atom.predicate]
            for rows, gains in ((relation.added(), not atom.negated), (relation.deleted(), atom.negated)):
                if rows.size:
                    yield place, relation.cells[rows], gains


class ByStages(Upkeep):
    """A component with stages: what changes waits for its stage, and there for its group.

    When a stage and group come up, all that they rest on is final, so each tuple is decided once. What was derived
    before its turn is looked at again then, for some of what it was derived from may have gone meanwhile.
    """

    def __init__(self, setting: Setting, predicates: Mapping[str, Predicate], component: Component) -> None:
        super().__init__(setting, predicates, component)
        self._place_of = {name: place for place, each in enumerate(self._positions) for name in each.predicates}
        self._users: dict[str, list[tuple[Derivation, int, bool]]] = {name: [] for name in self._place_of}
        for position in self._positions:
            for derivation in _derivations(position):
                for place, atom in derivation.atoms:
                    if atom.predicate in self._users:
                        self._users[atom.predicate].append((derivation, place, atom.negated))

    def settle(self) -> None:
        """Make the component true again, from the lowest stage up."""
        if self._begun and not self._is_touched():
            return
        queue, stages = _Queue(self), set[int]()
        for position in self._positions:
            for derivation in _derivations(position):
                for place, rows, gains in self._changes(derivation, self._place_of):
                    queue.schedule(derivation, place, rows, gains)
                if not self._begun:
                    queue.push(derivation, _at_first(derivation), gains=True)
        for stage, place, waiting in queue:
            stages.add(stage)
            self._guard(stages)
            self._settle_position(queue, stage, self._positions[place], waiting)
        self._begun = True

    def stages_of(self, predicate: str, cells: Int64s) -> Int64s:
        """Which stage each row of a predicate belongs to."""
        column = self.component.stages[predicate]
        vector = Vector(np.ascontiguousarray(cells[:, column]), self._predicates[predicate].columns[column].type)
        return self._setting.cells.sizes(vector).astype(np.int64, copy=False)

    def by_stage(self, predicate: str, cells: Int64s) -> Iterator[tuple[int, Bools | None]]:
        """The stages of some rows, and which of them belong to each; None: all."""
        stages = self.stages_of(predicate, cells)
        least = int(stages.min())
        if least == stages.max():
            yield least, None
            return
        for stage in np.unique(stages).tolist():
            yield stage, stages == stage

    def predicates_at(self, place: int) -> tuple[str, ...]:
        """The predicates of a group."""
        return self._positions[place].predicates

    def place_of(self, predicate: str) -> int:
        """Where a predicate stands among the groups."""
        return self._place_of[predicate]

    def _guard(self, stages: set[int]) -> None:
        self._setting.check(self.component.rules[0])
        limits = self._setting.program.limits
        if len(stages) > limits.stage:
            raise too_many_stages(limits, self.component.predicates[0], self.component.rules[0].number)

    def _settle_position(self, queue: "_Queue", stage: int, position: Position, waiting: "_Waiting") -> None:
        relations = [self._setting.relations[name] for name in position.predicates]
        marks = [relation.mark() for relation in relations]
        if isinstance(position, Gathering):
            position.settle([*waiting.gained[position.predicates[0]], *waiting.doubted[position.predicates[0]]])
        else:
            settled = _OneStage(self, stage)
            doubted = {
                name: [_found(self._setting.relations[name], cells) for cells in given]
                for name, given in waiting.doubted.items()
            }
            position.settle(doubted, self._verified(position, waiting.gained), settled)
        for relation, mark in zip(relations, marks, strict=True):
            added, deleted = relation.changed_since(mark)
            for derivation, place, negated in self._users[relation.name]:
                within = (stage, position) if isinstance(position, Group) and position.recursive else None
                for rows, gains in ((added, not negated), (deleted, negated)):
                    if rows.size:
                        queue.schedule(derivation, place, relation.cells[rows], gains, within)

    def _verified(self, group: Group, gained: Mapping[str, list[Int64s]]) -> Iterator[tuple[Derivation, Heads]]:
        """Of the rows that were derived before their turn, those that still are."""
        for name, cells in gained.items():
            if not cells:
                continue
            yield group.derivations[name][0], self._derived(group, self._setting.relations[name], cells)

    def _derived(self, group: Group, relation: Relation, given: list[Int64s]) -> Heads:
        cells = np.concatenate(given)
        cells = cells[~relation.find_live(cells, NEW)[1]]
        if len(cells) and group.recursive:
            found, ranks = group.ranked(relation.name, cells)
            yield cells[found], ranks[found]
        elif len(cells):
            yield cells[group.derived(relation.name, cells)], None


class _OneStage(Stage):
    """The rows of one stage."""

    def __init__(self, component: ByStages, stage: int) -> None:
        self._component, self._stage = component, stage
        self.floor = stage << 32

    def of(self, relation: Relation, cells: Int64s) -> Bools | None:
        return self._component.stages_of(relation.name, cells) == self._stage


class _Waiting:
    """What waits for one stage and group: rows that may be derived now, and rows that may be no more."""

    def __init__(self, predicates: Iterable[str]) -> None:
        self.gained: dict[str, list[Int64s]] = {name: [] for name in predicates}
        self.doubted: dict[str, list[Int64s]] = {name: [] for name in predicates}


class _Queue:
    """What waits, by stage and group."""

    def __init__(self, component: ByStages) -> None:
        self._component = component
        self._keys: list[tuple[int, int]] = []
        self._waiting: dict[tuple[int, int], _Waiting] = {}

    def schedule(
        self, derivation: Derivation, place: int, rows: Int64s, gains: bool, within: tuple[int, Group] | None = None
    ) -> None:
        """Let what a rule makes of changed rows wait for its turn; what a group has settled itself is left out."""
        heads = derivation.gained(place, rows) if gains else derivation.lost(place, rows)
        self.push(derivation, heads, gains, within)

    def push(self, derivation: Derivation, heads: Heads, gains: bool, within: tuple[int, Group] | None = None) -> None:
        """Let rows wait for their turn."""
        name = derivation.rule.head.predicate
        settled = within[0] if within and name in within[1].predicates else None
        for cells, _ in heads:
            for stage, own in self._component.by_stage(name, self._whole(derivation, cells)):
                if stage != settled:
                    waiting = self._at(stage, self._component.place_of(name))
                    (waiting.gained if gains else waiting.doubted)[name].append(cells if own is None else cells[own])

    def __iter__(self) -> Iterator[tuple[int, int, _Waiting]]:
        while self._keys:
            stage, place = heapq.heappop(self._keys)
            yield stage, place, self._waiting.pop((stage, place))

    def _whole(self, derivation: Derivation, cells: Int64s) -> Int64s:
        """Rows with all columns of the head, those that are gathered being empty."""
        if len(derivation.columns) == len(derivation.rule.head.arguments):
            return cells
        whole = np.zeros((len(cells), len(derivation.rule.head.arguments)), np.int64)
        whole[:, derivation.columns] = cells
        return whole

    def _at(self, stage: int, place: int) -> _Waiting:
        if (stage, place) not in self._waiting:
            heapq.heappush(self._keys, (stage, place))
            self._waiting[stage, place] = _Waiting(self._component.predicates_at(place))
        return self._waiting[stage, place]


def _derivations(position: Position) -> list[Derivation]:
    if isinstance(position, Gathering):
        return [position.derivation]
    return [derivation for each in position.derivations.values() for derivation in each]


def _at_first(derivation: Derivation) -> Heads:
    """A rule without positive relations follows from no change: it is run once, at the beginning."""
    if all(atom.negated for _, atom in derivation.atoms):
        yield from derivation.from_nothing()


def _found(relation: Relation, cells: Int64s) -> Int64s:
    rows = relation.find(cells)
    return rows[rows >= 0]
