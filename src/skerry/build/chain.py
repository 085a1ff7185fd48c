"""Nodes without state as operators behind each other. Each is built afresh wherever it runs."""

from collections.abc import Sequence

from skerry.build.table import NO_TABLES, Tables, build_stateless
from skerry.model.expression import list_columns
from skerry.operators.derive import Derive
from skerry.operators.operator import Operator
from skerry.plan.node import Stateless
from skerry.plan.project import Project
from skerry.plan.select import Select

__all__ = ["build_chain"]


def build_chain(nodes: Sequence[Stateless], tables: Tables = NO_TABLES) -> list[Operator]:
    """Nodes as operators behind each other; a selection is taken into the projection above it."""
    links: list[Operator] = []
    where: Select | None = None
    for node in nodes:
        if where and not isinstance(node, Project):
            links.append(_build_selection(where))
            where = None
        if isinstance(node, Select):
            where = node
        elif isinstance(node, Project):
            links.append(Derive(node.columns, where.predicate if where else None))
            where = None
        else:
            links += build_stateless(node, tables)
    return [*links, _build_selection(where)] if where else links


def _build_selection(node: Select) -> Operator:
    return Derive(list_columns(node.schema), node.predicate)
