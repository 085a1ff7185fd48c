"""Maintains a component with stages, stage by stage."""

import heapq
from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from skerry.deduce.engine.aggregation import Aggregation
from skerry.deduce.engine.bindings import Setting
from skerry.deduce.engine.encoding import Vector
from skerry.deduce.engine.group_maintenance import GroupMaintenance, Part, derive_at_first, runners_of
from skerry.deduce.engine.predicate_group import PredicateGroup, Stage
from skerry.deduce.engine.relation import NEW, Relation
from skerry.deduce.engine.rule_runner import Heads, RuleRunner
from skerry.deduce.limits import too_many_stages
from skerry.model.arrays import Bools, Int64s
from skerry.plan.program import Component, Predicate

__all__ = ["StageMaintenance"]

Within = tuple[int, PredicateGroup]
"""The stage and the recursive group that have just been settled."""


class StageMaintenance(GroupMaintenance):
    """A component with stages: what changes waits for its stage, and there for its group.

    When a stage and group come up, all that they rest on is final, so each tuple is decided once. What was derived
    before its turn is looked at again then, for some of what it was derived from may have gone meanwhile.
    """

    def __init__(self, setting: Setting, predicates: Mapping[str, Predicate], component: Component) -> None:
        super().__init__(setting, predicates, component)
        self._part_index = {name: index for index, each in enumerate(self._parts) for name in each.predicates}
        self._users: dict[str, list[tuple[RuleRunner, int, bool]]] = {name: [] for name in self._part_index}
        for part in self._parts:
            for runner in runners_of(part):
                for index, atom in runner.atoms:
                    if atom.predicate in self._users:
                        self._users[atom.predicate].append((runner, index, atom.negated))

    def settle(self) -> None:
        """Make the component true again, from the lowest stage up."""
        if self._begun and not self._is_touched():
            return
        queue, stages = _Queue(self), set[int]()
        for part in self._parts:
            for runner in runners_of(part):
                for index, rows, gains in self._changes(runner, self._part_index):
                    queue.schedule(runner, index, rows, gains)
                if not self._begun:
                    queue.push(runner, derive_at_first(runner), gains=True)
        for stage, index, waiting in queue:
            stages.add(stage)
            self._guard(stages)
            self._settle_part(queue, stage, self._parts[index], waiting)
        self._begun = True

    def stages_of(self, predicate: str, codes: Int64s) -> Int64s:
        """Which stage each row of a predicate belongs to; stages that fall count from the other end."""
        column = self.component.stages[predicate]
        vector = Vector(np.ascontiguousarray(codes[:, column]), self._predicates[predicate].columns[column].type)
        stages = self._setting.encoding.sizes(vector).astype(np.int64, copy=False)
        return ~stages if self.component.falling else stages

    def by_stage(self, predicate: str, codes: Int64s) -> Iterator[tuple[int, Bools | None]]:
        """The stages of some rows, and which of them belong to each; None: all."""
        stages = self.stages_of(predicate, codes)
        least = int(stages.min())
        if least == stages.max():
            yield least, None
            return
        for stage in np.unique(stages).tolist():
            yield stage, stages == stage

    def predicates_at(self, index: int) -> tuple[str, ...]:
        """The predicates of a group."""
        return self._parts[index].predicates

    def index_of(self, predicate: str) -> int:
        """Where a predicate stands among the groups."""
        return self._part_index[predicate]

    def _guard(self, stages: set[int]) -> None:
        guard = self._setting.guard
        guard.check(self.component.rules[0])
        if len(stages) > guard.allowed.stages:
            raise too_many_stages(guard.allowed, self.component.predicates[0], self.component.rules[0].number)

    def _settle_part(self, queue: "_Queue", stage: int, part: Part, waiting: "_Waiting") -> None:
        relations = [self._setting.relations[name] for name in part.predicates]
        marks = [relation.mark() for relation in relations]
        if isinstance(part, Aggregation):
            part.settle([*waiting.gained[part.predicates[0]], *waiting.doubted[part.predicates[0]]])
        else:
            settled = _OneStage(self, stage)
            doubted = {
                name: [_find_rows(self._setting.relations[name], codes) for codes in given]
                for name, given in waiting.doubted.items()
            }
            part.settle(doubted, self._verify(part, waiting.gained), settled)
        for relation, mark in zip(relations, marks, strict=True):
            added, deleted = relation.changes_since(mark)
            for runner, index, negated in self._users[relation.name]:
                within = (stage, part) if isinstance(part, PredicateGroup) and part.recursive else None
                for rows, gains in ((added, not negated), (deleted, negated)):
                    if rows.size:
                        queue.schedule(runner, index, relation.codes[rows], gains, within)

    def _verify(self, group: PredicateGroup, gained: Mapping[str, list[Int64s]]) -> Iterator[tuple[RuleRunner, Heads]]:
        """Of the rows that were derived before their turn, those that still are."""
        for name, codes in gained.items():
            if not codes:
                continue
            yield group.runners[name][0], self._find_derived(group, self._setting.relations[name], codes)

    def _find_derived(self, group: PredicateGroup, relation: Relation, given: list[Int64s]) -> Heads:
        codes = np.concatenate(given)
        codes = codes[~relation.find_live(codes, NEW)[1]]
        if len(codes) and group.recursive:
            found, ranks = group.find_ranks(relation.name, codes)
            yield codes[found], ranks[found]
        elif len(codes):
            yield codes[group.find_derived(relation.name, codes)], None


class _OneStage(Stage):
    """The rows of one stage."""

    def __init__(self, component: StageMaintenance, stage: int) -> None:
        self._component, self._stage = component, stage
        self.floor = stage << 32

    def of(self, relation: Relation, codes: Int64s) -> Bools | None:
        return self._component.stages_of(relation.name, codes) == self._stage


class _Waiting:
    """What waits for one stage and group: rows that may be derived now, and rows that may be no more."""

    def __init__(self, predicates: Iterable[str]) -> None:
        self.gained: dict[str, list[Int64s]] = {name: [] for name in predicates}
        self.doubted: dict[str, list[Int64s]] = {name: [] for name in predicates}


class _Queue:
    """What waits, by stage and group."""

    def __init__(self, component: StageMaintenance) -> None:
        self._component = component
        self._keys: list[tuple[int, int]] = []
        self._waiting: dict[tuple[int, int], _Waiting] = {}

    def schedule(
        self,
        runner: RuleRunner,
        index: int,
        rows: Int64s,
        gains: bool,
        within: Within | None = None,
    ) -> None:
        """Let what a rule makes of changed rows wait for its turn; what a group has settled itself is left out."""
        heads = runner.derive_gained(index, rows) if gains else runner.derive_lost(index, rows)
        self.push(runner, heads, gains, within)

    def push(self, runner: RuleRunner, heads: Heads, gains: bool, within: Within | None = None) -> None:
        """Let rows wait for their turn."""
        name = runner.rule.head.predicate
        settled = within[0] if within and name in within[1].predicates else None
        for codes, _ in heads:
            for stage, own in self._component.by_stage(name, self._whole(runner, codes)):
                if stage != settled:
                    waiting = self._at(stage, self._component.index_of(name))
                    (waiting.gained if gains else waiting.doubted)[name].append(codes if own is None else codes[own])

    def __iter__(self) -> Iterator[tuple[int, int, _Waiting]]:
        while self._keys:
            stage, index = heapq.heappop(self._keys)
            yield stage, index, self._waiting.pop((stage, index))

    def _whole(self, runner: RuleRunner, codes: Int64s) -> Int64s:
        """Rows with all columns of the head; those of aggregates are empty."""
        if len(runner.columns) == len(runner.rule.head.arguments):
            return codes
        whole = np.zeros((len(codes), len(runner.rule.head.arguments)), np.int64)
        whole[:, runner.columns] = codes
        return whole

    def _at(self, stage: int, index: int) -> _Waiting:
        if (stage, index) not in self._waiting:
            heapq.heappush(self._keys, (stage, index))
            self._waiting[stage, index] = _Waiting(self._component.predicates_at(index))
        return self._waiting[stage, index]


def _find_rows(relation: Relation, codes: Int64s) -> Int64s:
    rows = relation.find(codes)
    return rows[rows >= 0]
