"""Views that read views: to the reader a view is a stream, in the plan it is what it means."""

from collections.abc import Callable
from dataclasses import replace

from skerry.catalog import Source
from skerry.errors import InputError
from skerry.plan.deduce import Deduce
from skerry.plan.lags import times
from skerry.plan.nodes import Absence, Aggregate, Gather, Join, Lookup, Node, Project, Scan, Select, ViewPlan

__all__ = ["as_stream", "inlined"]

_VIEW = "view"
"""In place of a connector: nothing is opened to read a view."""


def as_stream(view: ViewPlan) -> Source:
    """A view as FROM sees it. Its time is the column that tells one; of several, a window says which it goes by."""
    found = times(view.root)
    return Source(view.name, view.root.schema, _VIEW, event_time=found[0] if len(found) == 1 else None)


def inlined(node: Node, plan_of: Callable[[str], ViewPlan]) -> Node:
    """The same plan with the plans of views in place of their names."""
    if isinstance(node, Scan):
        return _checked(plan_of(node.source.name)).root if node.source.connector == _VIEW else node
    if isinstance(node, Join | Absence | Gather | Deduce):
        return replace(node, relations=tuple(inlined(relation, plan_of) for relation in node.relations))
    assert isinstance(node, Select | Project | Lookup | Aggregate)
    return replace(node, input=inlined(node.input, plan_of))


def _checked(view: ViewPlan) -> ViewPlan:
    """Refuse views whose answers are not the last word, or not all of them."""
    if view.options.get("on_overload") == "shed":
        raise InputError(
            f"view {view.name!r} gives readings up, and tells what that cost; a view cannot be built on it"
        )
    if view.options.get("emit") == "early":
        raise InputError(f"view {view.name!r} amends answers that it has given; a view cannot be built on it")
    return view
