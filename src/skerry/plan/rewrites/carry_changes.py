"""Rows that can be taken back, carried from where they arise to the answers of a view.

A query is bound as if every row stayed. Here its plan is made one over changes: where it was asked for
(``emit='changes'``), aggregates and outer joins are given at once and revised; and whatever stands above rows that
change, be they its own or those of a view it reads, takes retractions in and passes them on.

    Project ─ Aggregate ─ Project ─ Scan per_sensor       per_sensor changes: its rows have _op

    Project _op, ... ─ RevisedAggregate (signed) ─ Project _op, ... ─ (plan of per_sensor)

Views that are read are put in place of their names in the same pass: their plans have been through it already.
"""

from collections.abc import Callable
from dataclasses import replace

import pyarrow as pa

from skerry.errors import InputError
from skerry.model.changes import OP
from skerry.model.expression import Expression
from skerry.plan.aggregate import Aggregate
from skerry.plan.fold import Fold, Method
from skerry.plan.join import Join
from skerry.plan.net_changes import AsChanges, NetChanges
from skerry.plan.node import Node, Stateful, Stateless
from skerry.plan.outer_join import OuterJoin, RevisedOuterJoin
from skerry.plan.project import Project
from skerry.plan.revised_aggregate import RevisedAggregate, RevisedSessions
from skerry.plan.rewrites.inline_views import inline_views
from skerry.plan.sampled_aggregate import SampledAggregate
from skerry.plan.scan import Scan
from skerry.plan.session_aggregate import SessionAggregate
from skerry.plan.top_rows import TopRows
from skerry.plan.union import Union
from skerry.plan.view import ViewPlan

__all__ = ["as_changes", "carry_changes"]

_INSTEAD = "read a view with emit = 'final', or aggregate the changing one over TUMBLE first"
_TAKEN = f"a view that gives changes has a column {OP!r} of its own; give yours another name"
_WINDOW = "group within TUMBLE or HOP"
_SKETCHES = {
    "count_distinct": "APPROX_COUNT_DISTINCT",
    "median": "APPROX_QUANTILE(x, 0.5)",
    "quantile_cont": "APPROX_QUANTILE",
}


def carry_changes(node: Node, plan_of: Callable[[str], ViewPlan], *, asked: bool = False) -> Node:
    """The same plan over changes; ``asked``: its answers are to be changes themselves."""
    carried = _carry(node, plan_of, asked)
    return NetChanges(carried) if carried.is_changing and not isinstance(carried, NetChanges) else carried


def as_changes(node: Node) -> Node:
    """Answers that are changes, whatever they are made of: rows that stay come, and none goes."""
    if not node.is_changing:
        if OP in node.schema.names:
            raise InputError(_TAKEN)
        return AsChanges(node)
    return node if isinstance(node, NetChanges) else NetChanges(node)


def _carry(node: Node, plan_of: Callable[[str], ViewPlan], asked: bool) -> Node:
    if isinstance(node, Scan):
        return inline_views(node, plan_of)
    inner = asked and (isinstance(node, Stateless) or type(node) in _REVISED)
    below = tuple(_carry(each, plan_of, inner) for each in node.inputs)
    is_changing = any(each.is_changing for each in below)
    if isinstance(node, Stateless):
        return _pass_on(node, below[0])
    if asked and isinstance(node, SampledAggregate):
        raise InputError("an aggregate that counts samples gives a row when its window is over; leave emit out")
    if asked and isinstance(node, Aggregate | SessionAggregate | OuterJoin):
        return _revise(node, below)
    if isinstance(node, RevisedAggregate):
        changed = node.replace_fields(input=below[0], is_signed=is_changing)
        return _check_bounded(changed.replace_fields(gives_changes=asked or node.gives_changes))
    if not is_changing:
        return node.with_inputs(below)
    carry = _SIGNED.get(type(node))
    if carry is None:
        name = type(node).__name__
        raise InputError(f"{_NAMES.get(name, name)} cannot read rows that are taken back; {_INSTEAD}")
    return carry(node, below)


def _pass_on(node: Stateless, below: Node) -> Node:
    """A node without state lets pass what becomes of a row."""
    if isinstance(node, Project) and below.is_changing and OP not in dict(node.columns):
        return Project(below, ((OP, Expression.of(OP, pa.string())), *node.columns))
    if below.is_changing and isinstance(node, Project) and dict(node.columns)[OP].column != OP:
        raise InputError(_TAKEN)
    return node.with_inputs((below,))


def _revise(node: Stateful, below: tuple[Node, ...]) -> Node:
    """The same, given at once and revised."""
    if isinstance(node, Aggregate):
        signed = below[0].is_changing
        return RevisedAggregate(below[0], node.window, node.time, node.keys, node.folds, signed)
    if any(each.is_changing for each in below):
        name = "SESSION_WINDOW" if isinstance(node, SessionAggregate) else "an outer join of streams"
        raise InputError(f"{name} cannot read rows that are taken back; {_INSTEAD}")
    if isinstance(node, SessionAggregate):
        return RevisedSessions(below[0], node.window, node.time, node.keys, node.folds)
    assert isinstance(node, OuterJoin)
    fields = node.sides, node.condition, node.text, node.technique, node.limit, node.full
    return RevisedOuterJoin(below, *fields)


def _carry_aggregate(node: Aggregate, below: tuple[Node, ...]) -> Node:
    """It gives a row once, when all changes of it have come."""
    fields = node.window, node.time, node.keys, node.folds
    return RevisedAggregate(below[0], *fields, is_signed=True, gives_changes=False)


def _carry_join(node: Join, below: tuple[Node, ...]) -> Node:
    """Rows that go are joined as those that come: a combination goes if an odd number of its members does."""
    if node.needs_arrival_order or node.overload is not None:
        kind = "LAST_ROWS" if node.needs_arrival_order else "a join that sheds or spills"
        raise InputError(f"{kind} cannot read rows that are taken back; {_INSTEAD}")
    if any(OP in side.schema.names for side in node.sides):  # it has been carried already
        return node.with_inputs(below)
    sides = tuple(replace(side, schema=each.schema) for side, each in zip(node.sides, below, strict=True))
    signs = tuple(side.column(OP) for side, each in zip(sides, below, strict=True) if each.is_changing)
    return NetChanges(node.replace_fields(relations=below, sides=sides), signs)


def _carry_union(node: Union, below: tuple[Node, ...]) -> Node:
    """Rows that stay are changes beside those of parts that change."""
    return Union(tuple(each if each.is_changing else AsChanges(each) for each in below))


def _carry_top(node: TopRows, below: tuple[Node, ...]) -> Node:
    """Each row that is there may become one of the first."""
    if node.window is None and not _has_bound(below[0]):
        raise InputError(f"LIMIT over rows that can be taken back would keep all of them for ever; {_WINDOW}")
    return node.with_inputs(below)


def _check_bounded(node: RevisedAggregate) -> RevisedAggregate:
    """Refuse a state without a bound: values or groups of a stream that are never forgotten."""
    if not node.is_endless or _has_bound(node.input):
        return node
    for fold in node.folds:
        if node.keeps_values(fold):
            raise InputError(f"{_name(fold)} without a window would keep all values that ever came; {_offer(fold)}")
    for key in node.keys:
        if node.input.lag_us(key) is not None:
            message = f"groups by the time {key!r} without a window would be kept for ever, one per moment"
            raise InputError(f"{message}; {_WINDOW}")
    return node


def _has_bound(node: Node) -> bool:
    """Whether there are only so many rows at a time, as many as there are groups."""
    if isinstance(node, Stateless):
        return _has_bound(node.input)
    if isinstance(node, Union):
        return all(map(_has_bound, node.relations))
    return isinstance(node, TopRows) or (isinstance(node, RevisedAggregate) and node.is_endless)


def _name(fold: Fold) -> str:
    if fold.method == Method.DISTINCT or fold.function == "count_distinct":
        return f"{fold.function.removesuffix('_distinct').upper()}(DISTINCT)"
    return "ARRAY_AGG" if fold.function == "list" else fold.function.upper()


def _offer(fold: Fold) -> str:
    sketch = _SKETCHES.get(fold.function)
    return f"write {sketch}, or {_WINDOW}" if sketch else _WINDOW


_REVISED = (Aggregate, SessionAggregate, OuterJoin, Join, Union, RevisedAggregate)
"""What stands over changes of its own query; the others ask for rows that are settled."""
_SIGNED: dict[type[Node], Callable[..., Node]] = {
    Aggregate: _carry_aggregate,
    Join: _carry_join,
    TopRows: _carry_top,
    Union: _carry_union,
}
_NAMES = {
    "Absence": "NOT EXISTS",
    "Asof": "ASOF JOIN",
    "Deduce": "a rule program",
    "Fallback": "a view with stand-ins",
    "Gather": "GATHER",
    "NotIn": "NOT IN",
    "OuterJoin": "an outer join of streams",
    "Over": "OVER, ORDER BY or LIMIT",
    "Presence": "EXISTS",
    "SampledAggregate": "an aggregate that counts samples",
    "SessionAggregate": "SESSION_WINDOW",
    "Silence": "SILENCE",
}
