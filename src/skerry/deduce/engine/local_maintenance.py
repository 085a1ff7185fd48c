"""Maintains a component that no column orders: tuple by tuple, each after those that it needs (class L).

The checks have added relations that say what the tuples may be, and which of them need which; they are settled before.
From them comes the order: what needs each other is one part, and a part is at a higher level than all that it needs. A
part with NOT or an aggregate inside has no model that all would agree on: the program stops with E201.

At a tick that touches the component, all of it is derived again, level by level. So it costs what its tuples cost, not
what has changed.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

import numpy as np

from skerry.deduce.engine.aggregation import Aggregation
from skerry.deduce.engine.bindings import Setting
from skerry.deduce.engine.cycle import Cycle, Need, write_tuple
from skerry.deduce.engine.group_maintenance import GroupMaintenance, Part, runners_of
from skerry.deduce.engine.relation import NEW, Relation
from skerry.kernels.rules.ground_order import GroundOrder, find_order
from skerry.model.arrays import Bools, Int64s
from skerry.plan.program import Component, Dependency, Predicate

__all__ = ["LocalMaintenance"]


class LocalMaintenance(GroupMaintenance):
    """A component whose tuples are settled in the order of what they need."""

    def __init__(self, setting: Setting, predicates: Mapping[str, Predicate], component: Component) -> None:
        super().__init__(setting, predicates, component)
        names = dict.fromkeys(component.candidates.values())
        self._candidates = {name: setting.relations[name] for name in names}
        self._users: dict[str, list[Part]] = {name: [] for name in names}
        for part in self._parts:
            self._users[component.candidates[part.predicates[0]]].append(part)

    def settle(self) -> None:
        """Make the component true again: order its tuples, then derive them from nothing."""
        if self._begun and not self._is_touched():
            return
        nodes = _Nodes(self._candidates)
        needs = [self._edges(nodes, each) for each in self.component.needs]
        heads = np.concatenate([heads for heads, _ in needs])
        order = find_order(nodes.count, heads, np.concatenate([needed for _, needed in needs]))
        self._refuse_cycles(nodes, order, needs)
        for part in self._parts:
            relation = self._setting.relations[part.predicates[0]]
            relation.suspend(relation.rows())
        inside = order.parts[heads] == order.parts[np.concatenate([needed for _, needed in needs])]
        circular = np.isin(order.parts, order.parts[heads[inside]])
        for level in _by_level(order.levels):
            self._setting.guard.check(self.component.rules[0])
            self._settle_level(nodes, level, bool(circular[level].any()))
        self._begun = True

    def _settle_level(self, nodes: "_Nodes", level: Int64s, circular: bool) -> None:
        """Derive the tuples of a level; those that need each other until nothing follows any more."""
        while True:
            grown = False
            for name, keys in nodes.split(level):
                for part in self._users[name]:
                    grown |= self._derive(part, keys)
            if not (circular and grown):
                return

    def _derive(self, part: Part, keys: Int64s) -> bool:
        columns = self.component.known[part.predicates[0]]
        if isinstance(part, Aggregation):
            found = [codes for codes, _ in part.runner.derive_where(columns, keys)]
            if found:
                part.settle(found)
            return False
        return any([part.insert(runner, runner.derive_where(columns, keys)) for runner in runners_of(part)])

    def _edges(self, nodes: "_Nodes", each: Dependency) -> tuple[Int64s, Int64s]:
        """Which nodes need which, by one subgoal of a rule."""
        relation = self._setting.relations[each.relation]
        rows, width = relation.codes[relation.rows()], len(self.component.known[each.head])
        head, subgoal = (self.component.candidates[name] for name in (each.head, each.subgoal))
        heads, needed = nodes.find(head, rows[:, :width]), nodes.find(subgoal, rows[:, width:])
        there = (heads >= 0) & (needed >= 0)
        return heads[there], needed[there]

    def _refuse_cycles(self, nodes: "_Nodes", order: GroundOrder, needs: Sequence[tuple[Int64s, Int64s]]) -> None:
        edges = list(zip(self.component.needs, needs, strict=True))
        for each, (heads, needed) in edges:
            inside = np.flatnonzero(order.parts[heads] == order.parts[needed]) if each.negative else heads[:0]
            if inside.size:
                first = inside[0]
                own = order.parts == order.parts[heads[first]]
                known = [(found, *_within(own, *pairs)) for found, pairs in edges]
                cycle = Cycle(Need(int(heads[first]), int(needed[first]), each), known)
                raise cycle.make_error(lambda node: self._write(nodes, node))

    def _write(self, nodes: "_Nodes", node: int) -> str:
        """A tuple by what is known of it before it is settled."""
        name, codes = nodes.row(node)
        predicate = next(each for each in self.component.needs if self.component.candidates[each.head] == name).head
        columns, known = self._predicates[predicate].columns, self.component.known[predicate]
        values = {
            column: self._setting.encoding.decode(codes[index : index + 1], columns[column].type)[0]
            for index, column in enumerate(known)
        }
        return write_tuple(predicate, values, len(columns))


def _within(own: Bools, heads: Int64s, needed: Int64s) -> tuple[Int64s, Int64s]:
    inside = own[heads] & own[needed]
    return heads[inside], needed[inside]


def _by_level(levels: Int64s) -> Iterator[Int64s]:
    """The nodes of each level, from the lowest up."""
    order = np.argsort(levels, kind="stable")
    cuts = np.searchsorted(levels[order], np.arange(int(levels.max(initial=-1)) + 2))
    for start, stop in pairwise(cuts.tolist()):
        yield order[start:stop]


class _Nodes:
    """The tuples that may be, numbered over all relations."""

    def __init__(self, candidates: Mapping[str, Relation]) -> None:
        self._relations, self._first, self.count = candidates, dict[str, int](), 0
        self._rows, self._numbers = dict[str, Int64s](), dict[str, Int64s]()
        for name, relation in candidates.items():
            rows = relation.rows()
            numbers = np.full(len(relation.states), -1)
            numbers[rows] = np.arange(self.count, self.count + rows.size)
            self._rows[name], self._numbers[name], self._first[name] = rows, numbers, self.count
            self.count += rows.size

    def find(self, name: str, keys: Int64s) -> Int64s:
        """The numbers of tuples; -1 for one that cannot be."""
        rows, live = self._relations[name].find_live(np.ascontiguousarray(keys), NEW)
        return np.where(live, self._numbers[name][rows], -1)

    def split(self, nodes: Int64s) -> Iterator[tuple[str, Int64s]]:
        """Nodes by relation, as rows of codes."""
        for name, rows in self._rows.items():
            first = self._first[name]
            own = nodes[(nodes >= first) & (nodes < first + rows.size)]
            if own.size:
                yield name, self._relations[name].codes[rows[own - first]]

    def row(self, node: int) -> tuple[str, Int64s]:
        """The relation of a node, and its row of codes."""
        return next((name, codes[0]) for name, codes in self.split(np.array([node])))
