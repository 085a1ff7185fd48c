"""A view that leaves those it is answered together with. What they keep stays as it is."""

from collections.abc import Sequence
from dataclasses import replace

from skerry.model.expression import Columns, Expression
from skerry.plan.fan_out import FanOut
from skerry.plan.node import Node
from skerry.plan.project import Project
from skerry.plan.rewrites.push_into_unions import push_into_unions
from skerry.plan.sharing.copies import Copy
from skerry.plan.view import ViewPlan

__all__ = ["leave"]


def leave(plan: ViewPlan, copies: Sequence[Copy], name: str) -> tuple[ViewPlan, tuple[Copy, ...]]:
    """A plan and the copies of its answers, without one of the views that it answers: others must be left.

    If the view has copies, the first of them takes its place: it runs, and the others are copies of it.
    """
    rest = tuple(copy for copy in copies if copy.name != name)
    if len(rest) < len(copies):
        return plan, rest
    heir = next((copy for copy in rest if copy.of == name), None)
    if heir is None:
        return replace(plan, root=_replace_fan_out(plan.root, name, None)), rest
    mine = {theirs: own for own, theirs in heir.columns}
    others = [copy for copy in rest if copy is not heir]
    moved = [_follow(copy, heir, mine) if copy.of == name else copy for copy in others]
    if isinstance(plan.root, FanOut):
        return replace(plan, root=_replace_fan_out(plan.root, name, heir)), tuple(moved)
    types = {field.name: field.type for field in plan.root.schema}
    columns = tuple((own, Expression.of(theirs, types[theirs])) for own, theirs in heir.columns)
    root = replace(plan.root, columns=_choose(plan.root.columns, heir)) if isinstance(plan.root, Project) else None
    return replace(plan, name=heir.name, root=root or push_into_unions(Project(plan.root, columns))), tuple(moved)


def _follow(copy: Copy, heir: Copy, mine: dict[str, str]) -> Copy:
    """A copy of the view before, as one of its heir."""
    return Copy(copy.name, heir.name, tuple((own, mine[theirs]) for own, theirs in copy.columns))


def _choose(columns: Columns, heir: Copy) -> Columns:
    """Columns as a copy has them."""
    known = dict(columns)
    return tuple((own, known[theirs]) for own, theirs in heir.columns)


def _replace_fan_out(node: Node, name: str, heir: Copy | None) -> Node:
    """The same, but for one view: it is left out, or its heir has its rows."""
    if not isinstance(node, FanOut):
        return node.with_inputs(tuple(_replace_fan_out(each, name, heir) for each in node.inputs))
    if heir is None:
        queries = tuple(query for query in node.queries if query[0] != name)
        return replace(node, queries=queries, views=tuple(each for each in node.views if each[0] != name), index=b"")
    queries = tuple((heir.name if query == name else query, asked) for query, asked in node.queries)
    views = tuple((heir.name, _choose(own, heir)) if view == name else (view, own) for view, own in node.views)
    return replace(node, queries=queries, views=views, index=b"")
