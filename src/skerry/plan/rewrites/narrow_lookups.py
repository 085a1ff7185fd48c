"""Tables of the catalogue, with no more columns than a view asks for.

A sensor's status changes with every message. A view that looks at places or tags alone need not see that: its table
stays the same version, and its lookups are not built anew.
"""

from dataclasses import replace

import pyarrow as pa

from skerry.catalog.arrow_tables import is_catalog_table
from skerry.model.expression import columns_of
from skerry.plan.left_lookup import LeftLookup
from skerry.plan.lookup import Lookup
from skerry.plan.node import Node
from skerry.plan.view import ViewPlan

__all__ = ["narrow_lookups"]


def narrow_lookups(view: ViewPlan) -> ViewPlan:
    """The same view, its tables of the catalogue narrowed."""
    if not any(is_catalog_table(table) for table in view.tables):
        return view
    return replace(view, root=_narrow(view.root, frozenset(view.root.schema.names)))


def _narrow(node: Node, wanted: frozenset[str]) -> Node:
    below = tuple(_narrow(each, node.columns_below(position, wanted)) for position, each in enumerate(node.inputs))
    made = node.with_inputs(below)
    return _narrow_table(made, wanted) if isinstance(made, Lookup) else made


def _narrow_table(node: Lookup, wanted: frozenset[str]) -> Lookup:
    if not is_catalog_table(node.table) or (isinstance(node, LeftLookup) and node.condition is not None):
        return node
    wanted |= columns_of(node.pair_condition) if node.pair_condition else frozenset()
    fields = [each for each in node.table.schema if each.name in node.looked_up or f"{node.name}.{each.name}" in wanted]
    if not fields or len(fields) == len(node.table.schema):
        return node
    name = f"{node.table.name}:{','.join(each.name for each in fields)}"
    return node.replace_fields(table=replace(node.table, name=name, schema=pa.schema(fields)))
