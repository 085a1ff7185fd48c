"""Maintains a component with stages tuple by tuple, in one kernel: prepares its tables, and makes room when it asks."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np

from skerry.deduce.engine.bindings import Setting
from skerry.deduce.engine.compile_plan import compile_plan
from skerry.deduce.engine.group_maintenance import runners_of
from skerry.deduce.engine.plan import Plan
from skerry.deduce.engine.relation import Relation
from skerry.deduce.engine.rule_runner import RuleRunner
from skerry.deduce.engine.stage_maintenance import StageMaintenance
from skerry.deduce.limits import too_many_stages, too_many_tuples
from skerry.errors import RuleLimit
from skerry.kernels.array_address import address_of
from skerry.kernels.rules.checked_arithmetic import SIGNS
from skerry.kernels.rules.plan_interpreter import Machine, Word
from skerry.kernels.rules.row_set import NONE
from skerry.kernels.rules.settle_stages import LOWEST, PROVING, Ending, Heap, RelationField, Use, settle
from skerry.model.arrays import Int64s
from skerry.plan.program import Component, Predicate

__all__ = ["TupleMaintenance"]

_BEGINNING = "$beginning"
"""A relation of one row: from it follows what follows from nothing."""
_LOOKS = 1 << 20
"""How many rows the kernel looks at before Python checks the time limit."""
_MOST = 1 << 62
"""What the kernel takes for no limit."""


class _Walk(NamedTuple):
    """A plan that starts from one relation: from the head back to a derivation, or forward from a subgoal."""

    runner: RuleRunner
    start: str
    back: bool
    subgoal: int | None = None
    """Forward: the index of the subgoal in the body; None: from nothing."""
    negated: bool = False

    @property
    def head(self) -> str:
        """The predicate of its rule's head."""
        return self.runner.rule.head.predicate

    def plan(self) -> Plan:
        """The one that suits the relations as they are now."""
        return self.runner.backward() if self.back else self.runner.forward(self.subgoal)


class _Tuples:
    """The tables of one component; relations from outside come first."""

    def __init__(
        self,
        setting: Setting,
        predicates: Mapping[str, Predicate],
        component: Component,
        runners: Iterable[RuleRunner],
    ) -> None:
        self._setting, self._component = setting, component
        walks = list(_walks(runners))
        outside = dict.fromkeys(walk.start for walk in walks if walk.start not in component.stages)
        self._relation_index = {name: index for index, name in enumerate([*outside, *component.predicates])}
        self._relations = [setting.relations.get(name) or _beginning() for name in self._relation_index]
        self._proofs = sorted((walk for walk in walks if walk.back), key=self._start_index)
        self._uses = sorted((walk for walk in walks if not walk.back), key=self._start_index)
        self._plans: dict[_Walk, Plan] = {}
        self._compiled: dict[_Walk, Int64s] = {}
        self._retired: list[Int64s] = []
        """Plans that were replaced while one of them may have been under way."""
        self._machine = self._make_machine(predicates)

    def update_plans(self) -> bool:
        """Compile the plans that have changed; return whether all of them can be."""
        for table, walks in ((self._machine.proofs, self._proofs), (self._machine.uses[:, Use.PLAN], self._uses)):
            for index, walk in enumerate(walks):
                plan = walk.plan()
                if plan is not self._plans.get(walk):
                    self._plans[walk] = plan
                    self._compile(walk, plan)
                    if walk not in self._compiled:
                        return False
                    table[index] = address_of(self._compiled[walk])
        self._update_postings()
        return True

    def settle(self, is_first: bool) -> None:
        """Make the component true again, after what has changed below it."""
        self._begin(is_first)
        try:
            while (ending := settle(self._machine)) is not Ending.DONE:
                self._handle(ending)
        finally:
            self._retired.clear()
            self._store_sizes()
            self._store_touched()

    def _start_index(self, walk: _Walk) -> int:
        return self._relation_index[walk.start]

    def _make_machine(self, predicates: Mapping[str, Predicate]) -> Machine:
        relations = np.zeros((len(self._relation_index), len(RelationField)), np.int64)
        limits = list[tuple[int, int]]()
        for name, index in self._relation_index.items():
            row = relations[index]
            row[RelationField.HEADER] = self._relations[index].address
            row[RelationField.STAGE] = self._component.stages.get(name, NONE)
            row[RelationField.LIMITS] = len(limits)
            limits += predicates[name].limits.items() if name in self._component.stages else ()
            row[RelationField.LIMITS_END] = len(limits)
        _note_ranges(relations, RelationField.PROOFS, [self._start_index(walk) for walk in self._proofs])
        _note_ranges(relations, RelationField.USES, [self._start_index(walk) for walk in self._uses])
        uses = [(0, int(walk.negated), self._relation_index[walk.head]) for walk in self._uses]
        return Machine.idle(
            relations,
            np.array(limits, np.int64).reshape(-1, 2),
            np.zeros(len(self._proofs), np.int64),
            np.array(uses, np.int64).reshape(-1, len(Use)),
        )

    def _compile(self, walk: _Walk, plan: Plan) -> None:
        """Compile a plan. If that is not possible, the plan compiled before stays in use."""
        compiled = compile_plan(plan)
        if compiled is not None:
            self._retired += [self._compiled[walk]] if walk in self._compiled else []
            self._compiled[walk] = compiled

    def _update_postings(self) -> None:
        found = [(index, each) for index, relation in enumerate(self._relations) for each in relation.indexes]
        if len(found) != self._machine.postings.size:
            addresses = np.array([each.address for _, each in found], np.int64)
            self._machine = self._machine._replace(postings=addresses)
            _note_ranges(self._machine.relations, RelationField.POSTINGS, [index for index, _ in found])

    def _begin(self, is_first: bool) -> None:
        """Let all wait that has changed outside; nothing else has been done."""
        words, allowed = self._machine.words, self._setting.guard.allowed
        words[:] = 0
        words[Word.LOOKS] = _LOOKS
        words[Word.MOST_STAGES], words[Word.MOST_TUPLES] = min(allowed.stages, _MOST), min(allowed.tuples, _MOST)
        self._machine.relations[:, RelationField.SIZE] = [relation.size for relation in self._relations]
        for name, index in self._relation_index.items():
            relation = self._relations[index]
            if name not in self._component.stages and (is_first or name != _BEGINNING):
                self._wait(index, relation.rows_added())
                self._wait(index, relation.rows_deleted())

    def _wait(self, index: int, rows: Int64s) -> None:
        """Rows of relations in their order make a heap as they are."""
        start, stop = int(self._machine.words[Word.WAITING]), int(self._machine.words[Word.WAITING]) + rows.size
        self._make_room(stop)
        self._machine.heap[start:stop, Heap.STAGE], self._machine.heap[start:stop, Heap.RELATION] = LOWEST, index
        self._machine.heap[start:stop, Heap.ROW] = rows
        self._machine.words[Word.WAITING] = stop

    def _make_room(self, rows: int) -> None:
        """Let so many rows wait."""
        heap, log = self._machine.heap, self._machine.log
        if rows > len(heap):
            more = max(rows, 2 * len(heap)) - len(heap)
            heap = np.concatenate([heap, np.empty((more, len(Heap)), np.int64)])
        if 2 * self._machine.words[Word.LOGGED] > len(log):
            log = np.concatenate([log, np.empty_like(log)])
        self._machine = self._machine._replace(heap=heap, log=log)

    def _handle(self, ending: Ending) -> None:
        """Give what is lacking, or tell what is wrong."""
        words, guard = self._machine.words, self._setting.guard
        match ending:
            case Ending.TIME:
                words[Word.LOOKS] = _LOOKS
                self._store_sizes()
            case Ending.HEAP:
                self._make_room(int(words[Word.WAITING]) + 1)
            case Ending.ROWS:
                self._relations[words[Word.LACKING]].make_room()
                self._store_sizes()
                self.update_plans()
            case Ending.TUPLES:
                walk = self._proofs[words[Word.LACKING]]
                raise too_many_tuples(guard.allowed.tuples, walk.start, walk.runner.rule.number)
            case Ending.STAGES:
                raise too_many_stages(guard.allowed, self._component.predicates[0], self._component.rules[0].number)
            case Ending.WRONG:
                raise self._wrong()
        guard.check(self._in_hand().runner.rule)

    def _in_hand(self) -> _Walk:
        """The plan that is being walked."""
        walks = self._proofs if self._machine.words[Word.PHASE] == PROVING else self._uses
        return walks[self._machine.words[Word.TURN]]

    def _wrong(self) -> RuleLimit:
        """The error of a number that does not fit."""
        left, right = self._machine.key[:2].tolist()
        message = f"{left} {SIGNS[self._machine.words[Word.AT]]} {right} does not fit into 64 bits"
        return RuleLimit(message, "", self._in_hand().runner.rule.number)

    def _store_sizes(self) -> None:
        """Let relations know how many rows they have: plans depend on it."""
        for relation, size in zip(
            self._relations, self._machine.relations[:, RelationField.SIZE].tolist(), strict=True
        ):
            relation.size = size

    def _store_touched(self) -> None:
        """Let relations know which of their rows were touched."""
        log = self._machine.log[: self._machine.words[Word.LOGGED]]
        for name in self._component.predicates:
            index = self._relation_index[name]
            self._relations[index].note(log[log[:, 0] == index, 1])


class TupleMaintenance(StageMaintenance):
    """Settles stages in one kernel, a tuple at a time, where all plans can be compiled for it.

    Where few tuples change in each of many stages, the fixed cost of a step over columns would dominate.
    """

    def __init__(self, setting: Setting, predicates: Mapping[str, Predicate], component: Component) -> None:
        super().__init__(setting, predicates, component)
        runners = [runner for each in self._parts for runner in runners_of(each)]
        self._tuples: _Tuples | None = _Tuples(setting, predicates, component, runners)

    def settle(self) -> None:
        """Make the component true again; lists that are too large need a closer look."""
        if self._begun and not self._is_touched():
            return
        if self._tuples is not None and not self._tuples.update_plans():
            self._tuples = None
        if self._tuples is None or self._setting.encoding.too_large:
            super().settle()
            return
        self._tuples.settle(is_first=not self._begun)
        self._begun = True


def _walks(runners: Iterable[RuleRunner]) -> Iterator[_Walk]:
    for runner in runners:
        atoms = list(runner.atoms)
        yield _Walk(runner, runner.rule.head.predicate, back=True)
        for index, atom in atoms:
            yield _Walk(runner, atom.predicate, False, index, atom.negated)
        if all(atom.negated for _, atom in atoms):
            yield _Walk(runner, _BEGINNING, back=False)


def _beginning() -> Relation:
    relation = Relation(_BEGINNING, 0)
    relation.insert(np.empty((1, 0), np.int64))
    return relation


def _note_ranges(relations: Int64s, part: RelationField, owners: list[int]) -> None:
    """Which entries of a table belong to each relation: they stand in the relations' order."""
    numbers = np.arange(len(relations))
    relations[:, part] = np.searchsorted(owners, numbers, side="left")
    relations[:, part + 1] = np.searchsorted(owners, numbers, side="right")
