"""Views that read views: to the reader a view is a stream, in the plan it is what it means."""

from collections.abc import Callable

from skerry.errors import InputError
from skerry.plan.node import Node
from skerry.plan.scan import Scan
from skerry.plan.view import VIEW_CONNECTOR, ViewPlan

__all__ = ["inline_views"]


def inline_views(node: Node, plan_of: Callable[[str], ViewPlan]) -> Node:
    """The same plan with the plans of views in place of their names."""
    if isinstance(node, Scan):
        is_view = node.source.connector == VIEW_CONNECTOR
        return _check(plan_of(node.source.name)).root if is_view else node
    return node.with_inputs(tuple(inline_views(each, plan_of) for each in node.inputs))


def _check(view: ViewPlan) -> ViewPlan:
    """Refuse views whose answers are not the last word, or not all of them."""
    if view.options.get("on_overload") == "shed":
        raise InputError(
            f"view {view.name!r} gives readings up, and tells what that cost; a view cannot be built on it"
        )
    if view.options.get("emit") == "early":
        raise InputError(f"view {view.name!r} amends answers that it has given; a view cannot be built on it")
    return view
