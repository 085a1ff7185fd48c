"""What asks something of the rows of a union, row by row, asks it of each part: beside the part's own source."""

from skerry.plan.node import Node, Stateless
from skerry.plan.union import Union, list_parts

__all__ = ["push_into_unions"]


def push_into_unions(node: Node) -> Node:
    """The same plan, with no node without state above a union, and no union in a union."""
    made = node.with_inputs(tuple(push_into_unions(each) for each in node.inputs))
    if isinstance(made, Stateless) and isinstance(made.input, Union):
        return Union(tuple(made.with_inputs((part,)) for part in list_parts(made.input)))
    return Union(list_parts(made)) if isinstance(made, Union) else made
