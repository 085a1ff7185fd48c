"""Selections, projections, lookups and fan-outs as operators. Each is built afresh wherever it runs."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import pyarrow as pa

from skerry.build.indexes import open_index
from skerry.model.expression import Columns, Expression
from skerry.operators.derive import Derive
from skerry.operators.fan_out import FanOut as FanOutOperator
from skerry.operators.fan_out import ViewSplitter
from skerry.operators.joins.ages import Ages
from skerry.operators.lookup import Lookup as LookupOperator
from skerry.operators.operator import Operator
from skerry.operators.select_any import SelectAny as SelectAnyOperator
from skerry.plan.fan_out import FanOut, SelectAny
from skerry.plan.join import Join
from skerry.plan.lookup import Lookup
from skerry.plan.node import Stateless
from skerry.plan.project import Project
from skerry.plan.select import Select

__all__ = ["NO_TABLES", "Tables", "build_chain", "keep_all"]

Tables = Mapping[str, pa.RecordBatch]
NO_TABLES: Tables = MappingProxyType({})


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
            links += _BUILDERS[type(node)](node, tables)
    return [*links, _build_selection(where)] if where else links


def keep_all(schema: pa.Schema) -> Operator:
    """All columns, as they are."""
    return Derive(_list_columns(schema))


def _build_selection(node: Select) -> Operator:
    return Derive(_list_columns(node.schema), node.predicate)


def _build_lookup(node: Lookup, tables: Tables) -> list[Operator]:
    return [LookupOperator(node.input.schema, node.name, tables[node.table.name], node.keys)]


def _build_select_any(node: SelectAny, tables: Tables) -> list[Operator]:
    return [SelectAnyOperator(node.schema, open_index(node))]


def _build_fan_out(node: FanOut, tables: Tables) -> list[Operator]:
    ages = [Ages(node.input.schema, node.input.sides)] if isinstance(node.input, Join) else []
    return [*ages, FanOutOperator(ViewSplitter(open_index(node), dict(node.views)))]


def _list_columns(schema: pa.Schema) -> Columns:
    return tuple((field.name, Expression.of(field.name, field.type)) for field in schema)


_BUILDERS: Mapping[type[Stateless], Callable[[Any, Tables], list[Operator]]] = {
    FanOut: _build_fan_out,
    Lookup: _build_lookup,
    SelectAny: _build_select_any,
}
