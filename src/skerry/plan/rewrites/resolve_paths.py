"""Folders that a plan names, as every process finds them."""

from dataclasses import replace
from pathlib import Path

from skerry.plan.join import Join
from skerry.plan.node import Node
from skerry.plan.overload import Spilling
from skerry.plan.view import ViewPlan

__all__ = ["resolve_paths"]


def resolve_paths(view: ViewPlan, base: Path) -> ViewPlan:
    """The same view, the folders of joins that spill made absolute."""
    return replace(view, root=_resolve(view.root, base)) if "spill_to" in view.options else view


def _resolve(node: Node, base: Path) -> Node:
    if isinstance(node, Join) and isinstance(node.overload, Spilling):
        folder = str((base / node.overload.folder).resolve())
        return node.replace_fields(overload=replace(node.overload, folder=folder))
    return node.with_inputs(tuple(_resolve(each, base) for each in node.inputs))
