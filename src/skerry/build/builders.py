"""Plan nodes as operators. Each is built afresh wherever it runs."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from uuid import uuid4

import pyarrow as pa

from skerry.deduce.builtins import Builtins
from skerry.deduce.engine import Engine
from skerry.plan.program import MICROSECONDS
from skerry.deduce.deduction import Deduction
from skerry.index.index import QueryIndex
from skerry.operators.aggregate import WindowAggregate
from skerry.operators.fan_out import Deal as DealOperator
from skerry.operators.fan_out import Dealer
from skerry.operators.derive import Derive
from skerry.model.expression import Expression
from skerry.model.duckdb_session import open_duckdb
from skerry.operators.gather import Gather as GatherOperator
from skerry.operators.joins.absence import Absence as AbsenceOperator
from skerry.operators.joins.ages import Ages
from skerry.operators.joins.join import MultiJoin
from skerry.operators.joins.shedding import SheddingJoin
from skerry.operators.joins.spill import FolderSpill
from skerry.operators.joins.spilling import SpillingJoin
from skerry.operators.lookup import Lookup as LookupOperator
from skerry.operators.operator import Operator
from skerry.operators.partial import PartialAggregate
from skerry.operators.wanted import Wanted as WantedOperator
from skerry.plan.deduce import Deduce
from skerry.plan.nodes import Absence, Aggregate, Gather, Join, Lookup, Node, Project, Select
from skerry.plan.overload import Shedding, Spilling
from skerry.plan.shared import Deal, Wanted

__all__ = ["Stateful", "Tables", "derivations", "everything", "partial", "stateful"]

Tables = Mapping[str, pa.RecordBatch]
Stateful = Aggregate | Join | Absence | Gather | Deduce
"""The nodes that keep something."""


def stateful(view: str, node: Stateful) -> Operator:
    """The operator of a node that keeps something."""
    if isinstance(node, Join):
        return _join(view, node)
    if isinstance(node, Absence):
        return AbsenceOperator(node.sides, node.columns)
    if isinstance(node, Gather):
        return GatherOperator(
            node.relations[0].schema,
            key=node.key,
            sensor=node.sensor,
            time=node.time,
            span_us=node.span_us,
            min_arity=node.min_arity,
            early=node.early,
            flatten=node.flatten,
            limit=node.limit,
        )
    if isinstance(node, Deduce):
        return _deduction(node)
    return WindowAggregate(node.window, node.key_fields, node.folds)


def partial(node: Aggregate) -> Operator:
    """The part of an aggregate that runs before rows are shuffled, or handed on."""
    return PartialAggregate(node.window, node.time, node.key_fields, node.folds)


def _join(view: str, node: Join) -> Operator:
    if isinstance(node.overload, Spilling):
        spill = FolderSpill(Path(node.overload.folder) / f"{view}-{uuid4().hex}")
        return SpillingJoin(node.sides, spill, node.overload.memory_rows, node.technique, node.limit)
    if isinstance(node.overload, Shedding):
        hashed = node.technique == "amjoin"
        return SheddingJoin(node.sides, node.overload.memory_rows, node.overload.policy, node.limit, hashed=hashed)
    return MultiJoin(node.sides, node.technique, node.limit)


def _deduction(node: Deduce) -> Operator:
    builtins = Builtins(node.program.program.functions, node.modules, Path(node.folder))
    engine = Engine(node.program, builtins, MICROSECONDS)
    return Deduction(node.facts, engine, node.output.predicate, node.output.mode, node.slide_us)


def derivations(nodes: Sequence[Node], tables: Tables = MappingProxyType({})) -> list[Operator]:
    """Selections, projections and lookups as operators; a selection is taken into the projection above it."""
    links: list[Operator] = []
    where: Select | None = None
    for node in nodes:
        if where and not isinstance(node, Project):
            links.append(Derive(_columns(where.schema), where.predicate))
            where = None
        if isinstance(node, Select):
            where = node
        elif isinstance(node, Project):
            links.append(Derive(node.columns, where.predicate if where else None))
            where = None
        elif isinstance(node, Lookup):
            links.append(LookupOperator(node.input.schema, node.name, tables[node.table.name], node.keys))
        elif isinstance(node, Wanted):
            links.append(WantedOperator(node.schema, QueryIndex.restored(node.index, node.schema, open_duckdb)))
        elif isinstance(node, Deal):
            links += _dealing(node)
    if where:
        links.append(Derive(_columns(where.schema), where.predicate))
    return links


def _dealing(node: Deal) -> list[Operator]:
    ages = [Ages(node.input.schema, node.input.sides)] if isinstance(node.input, Join) else []
    schema = ages[0].schema if ages else node.input.schema
    return [*ages, DealOperator(Dealer(QueryIndex.restored(node.index, schema, open_duckdb), dict(node.views)))]


def everything(schema: pa.Schema) -> Operator:
    """All columns, as they are."""
    return Derive(_columns(schema))


def _columns(schema: pa.Schema) -> list[tuple[str, Expression]]:
    return [(field.name, Expression.of(field.name, field.type)) for field in schema]
