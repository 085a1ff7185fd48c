"""Rows that wait for partners, with no more columns than are wanted of them."""

from dataclasses import replace

from skerry.plan.absence import Absence
from skerry.plan.node import Node, walk
from skerry.plan.project import Project

__all__ = ["narrow_waiting"]


def narrow_waiting(root: Node) -> Node:
    """The same plan; what EXISTS and its like keep of a row is what is compared, and what is made of it later."""
    if not any(isinstance(node, Absence) for node in walk(root)):
        return root
    return _narrow(root, frozenset(root.schema.names))


def _narrow(node: Node, wanted: frozenset[str]) -> Node:
    below = tuple(_narrow(each, node.columns_below(position, wanted)) for position, each in enumerate(node.inputs))
    made = node.with_inputs(below)
    if isinstance(made, Project):
        chosen = tuple(column for column in made.columns if column[0] in wanted)
        return made.replace_fields(columns=chosen or made.columns[:1])
    if isinstance(made, Absence):
        first, second = (replace(side, schema=each.schema) for side, each in zip(made.sides, below, strict=True))
        columns = tuple(name for name in made.columns if name in wanted)
        return made.replace_fields(sides=(first, second), columns=columns or (first.time,))
    return made
