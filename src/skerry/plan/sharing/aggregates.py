"""Many views that fold the same groups: one aggregate for all of them.

Views are alike if they group the readings of one source by the same keys; what they compute, over which windows, and
for which groups, may differ. A condition that only names keys holds for all readings of a group or for none, so it can
be asked of the group: then a reading is folded once, however many views there are. Conditions that name anything else
are part of what views must have in common.

    view 1: Project ─ Select ─ Aggregate ─ Project ─ Select ─ Scan       FanOut ─ Aggregate ─ Project ─ Select ─ Scan
    view 2: Project ─ Aggregate ─ Project ─ Select ─ Scan          ──►           (all folds)       (what all ask)
    ...

Windows of several sizes are made of common slices (``plan.sliced_aggregate``). Folds that need all values keep them for
the longest window only in one view: views with such folds share with those that have the same windows.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import pyarrow as pa
from sqlglot import exp

from skerry.model.dialect import write_expression
from skerry.model.expression import Columns, Expression, rename_columns
from skerry.model.sampling import SAMPLING_OPTIONS
from skerry.model.window import WINDOW_END, WINDOW_START, Window
from skerry.plan.aggregate import Aggregate
from skerry.plan.fold import Fold, Method
from skerry.plan.node import Node
from skerry.plan.project import Project
from skerry.plan.scan import Scan
from skerry.plan.select import Select
from skerry.plan.sharing.member import Member, fan_out, parse_tree, recompute, split_selections
from skerry.plan.sharing.spelling import Spelling, spell_conditions
from skerry.plan.sliced_aggregate import WINDOW_NUMBER, SlicedAggregate
from skerry.plan.view import ViewPlan

__all__ = ["AggregateMember"]

_OF_THE_AGGREGATE = {"emit", *(option.name for option in SAMPLING_OPTIONS)}
"""Options that views of one aggregate agree on, or that do not matter to it. A view with any other has its own."""


@dataclass(frozen=True)
class AggregateMember(Member):
    """A view that may share its aggregate."""

    view: ViewPlan
    node: Aggregate
    scan: Scan
    below: dict[str, Expression]
    """What is computed from readings: their time, keys and arguments."""
    of_keys: tuple[exp.Expr, ...]
    """What it asks of readings and may ask of groups as well."""
    of_readings: tuple[Expression, ...]
    of_groups: tuple[Expression, ...]
    columns: Columns
    sliced: bool
    """Whether it may share with views over other windows."""

    @classmethod
    def of(cls, view: ViewPlan, *, sliced: bool = True) -> "AggregateMember | None":
        """None if the view is no aggregate over the readings of a source, or one that has to keep to itself."""
        if not isinstance(view.root, Project) or view.options.keys() - _OF_THE_AGGREGATE:
            return None
        if view.options.get("emit", "final") != "final":
            return None
        of_groups, node = split_selections(view.root.input)
        if not isinstance(node, Aggregate) or not isinstance(node.input, Project):
            return None
        conditions, scan = split_selections(node.input.input)
        if not isinstance(scan, Scan) or scan.source.is_table:
            return None
        below = dict(node.input.columns)
        keys = {below[key].column for key in node.keys if not pa.types.is_floating(below[key].type)}
        of_keys, of_readings = _split_conditions(conditions, keys)
        keeps_values = any(fold.method == Method.COLLECTED for fold in node.folds)
        sliced = sliced and not keeps_values
        return cls(view, node, scan, below, of_keys, of_readings, of_groups, view.root.columns, sliced)

    @cached_property
    def keys(self) -> dict[str, str]:
        """What its keys are computed by, and the names they have."""
        return {self.below[key].sql: key for key in self.node.keys}

    @property
    def alike(self) -> tuple[Any, ...]:
        """The source, the readings, their time, and the keys; the windows, where they cannot be made of slices."""
        names = {name: name for name in self.scan.schema.names}
        spelled = (spell_conditions(each, names, self.scan.schema) for each in self.of_readings)
        conditions = frozenset[Spelling]().union(*spelled)
        window = None if self.sliced else self.node.window
        return self.scan.source.name, conditions, self.below[self.node.time].sql, window, *sorted(self.keys)

    @classmethod
    def together(cls, members: Sequence["AggregateMember"]) -> ViewPlan:
        """One aggregate for all."""
        return _Group(members).plan()

    def fold_key(self, fold: Fold) -> tuple[Any, ...]:
        """What a fold computes, and from what."""
        bare = replace(fold, argument=None, others=(), where=None, name="")
        columns = (fold.argument, *(name for name, _ in fold.others), fold.where)
        return bare, *(self.below[column].sql if column else None for column in columns)


class _Group:
    """Members that are alike. Keys are named as the first names them."""

    def __init__(self, members: Sequence[AggregateMember]) -> None:
        self._members, self._first = tuple(members), members[0]
        self._folds: dict[tuple[Any, ...], Fold] = {}
        self._arguments: dict[str, tuple[str, Expression]] = {}
        for member in members:
            for fold in member.node.folds:
                self._folds.setdefault(member.fold_key(fold), self._fold(member, fold))
        heads = [(name, self._first.below[name]) for name in (self._first.node.time, *self._first.node.keys)]
        readings: Node = self._first.scan
        for condition in self._first.of_readings:
            readings = Select(readings, condition)
        below = Project(readings, (*heads, *self._arguments.values()))
        self._windows = list(dict.fromkeys(member.node.window for member in members))
        self._node = self._make_node(below)

    def _make_node(self, below: Node) -> Aggregate | SlicedAggregate:
        """The aggregate, over one kind of window or over several."""
        node, folds = self._first.node, tuple(self._folds.values())
        if len(self._windows) == 1:
            return replace(node, input=below, folds=folds)
        wanted = tuple(tuple(sorted(self._list_wanted(window))) for window in self._windows)
        return SlicedAggregate(below, tuple(self._windows), node.time, node.keys, folds, wanted)

    def _list_wanted(self, window: Window) -> set[str]:
        """The folds that views over a window have."""
        those = [member for member in self._members if member.node.window == window]
        return {self._folds[member.fold_key(fold)].name for member in those for fold in member.node.folds}

    def _fold(self, member: AggregateMember, fold: Fold) -> Fold:
        """A member's fold under a name of its own."""
        names = {column: self._name_argument(member.below[column]) for column in fold.columns}
        others = tuple((names[column], type_) for column, type_ in fold.others)
        argument, where = (names[column] if column else None for column in (fold.argument, fold.where))
        return replace(fold, argument=argument, others=others, where=where, name=f"_fold{len(self._folds)}")

    def _name_argument(self, given: Expression) -> str:
        """The column that holds what a fold is computed from."""
        name, _ = self._arguments.setdefault(given.sql, (f"_argument{len(self._arguments)}", given))
        return name

    def plan(self) -> ViewPlan:
        """One plan for all."""
        conditions = [list(self._conditions(member)) for member in self._members]
        columns = [recompute(member.columns, self._names(member)) for member in self._members]
        return fan_out([member.view for member in self._members], self._node, conditions, columns)

    def _conditions(self, member: AggregateMember) -> Iterator[exp.Expr]:
        """All that a view asks of groups; of several windows, its own comes first."""
        if len(self._windows) > 1:
            number = self._windows.index(member.node.window)
            yield exp.column(WINDOW_NUMBER, quoted=True).eq(number)
        keys = {self._first.below[key].column: key for key in self._first.node.keys}
        for condition in member.of_keys:
            yield rename_columns(condition.copy(), {column: keys[column] for column in _names(condition)})
        for each in member.of_groups:
            yield rename_columns(parse_tree(each), self._names(member))

    def _names(self, member: AggregateMember) -> dict[str, str]:
        """What the columns of a member's groups are called here."""
        keys = {name: self._first.keys[sql] for sql, name in member.keys.items()}
        folds = {fold.name: self._folds[member.fold_key(fold)].name for fold in member.node.folds}
        return {WINDOW_START: WINDOW_START, WINDOW_END: WINDOW_END, **keys, **folds}


def _split_conditions(
    conditions: Iterable[Expression], keys: set[str | None]
) -> tuple[tuple[exp.Expr, ...], tuple[Expression, ...]]:
    """What is asked of keys alone, part by part, and the rest.

    Keys that are equal are the same here, which does not go for numbers with a fraction: 0.0 and -0.0.
    """
    of_keys, rest = [], []
    for each in conditions:
        tree = parse_tree(each)
        parts = list(tree.flatten()) if isinstance(tree, exp.And) else [tree]
        mine = [part for part in parts if _names(part) <= keys]
        others = [part for part in parts if not _names(part) <= keys]
        of_keys += mine
        if others:
            rest.append(Expression(write_expression(exp.and_(*others)), each.type) if mine else each)
    return tuple(of_keys), tuple(rest)


def _names(tree: exp.Expr) -> set[str]:
    return {column.name for column in tree.find_all(exp.Column)}
