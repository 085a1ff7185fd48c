"""A plan cut where it must be shuffled: what runs beside each source, and what runs by key.

    Scan ─ Select ─ Project ─┐
    Scan ─ Project ──────────┼─ Aggregate, Join or Gather ─ Select ─ Project
    └──────── route ─────────┴──────────────── operate ───────────────────┘
              by split                     by bucket of the keys

A plan without state has no second part. Each part is built afresh wherever it runs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from uuid import uuid4

import pyarrow as pa

from skerry.catalog import Source
from skerry.errors import InputError
from skerry.operators.aggregate import WindowAggregate
from skerry.operators.derive import Derive, Expression
from skerry.operators.gather import Gather as GatherOperator
from skerry.operators.joins.join import MultiJoin
from skerry.operators.joins.shedding import SheddingJoin
from skerry.operators.joins.spill import FolderSpill
from skerry.operators.joins.spilling import SpillingJoin
from skerry.operators.lookup import Lookup as LookupOperator
from skerry.operators.operator import Chain, Operator
from skerry.operators.partial import PartialAggregate
from skerry.plan.nodes import Aggregate, Gather, Join, Lookup, Node, Project, Scan, Select, ViewPlan
from skerry.plan.overload import Shedding, Spilling

__all__ = ["FEWEST_INDEXED", "Feed", "Stages", "Stateful", "Tables", "cut_into_stages"]

Tables = Mapping[str, pa.RecordBatch]
Stateful = Aggregate | Join | Gather
"""The nodes that keep something: a plan has at most one, and is cut below it."""

FEWEST_INDEXED = 8
"""From so many views on that only select from one stream, they are asked together, through the query index."""


@dataclass(frozen=True)
class Feed:
    """One stream on its way into a view."""

    name: str
    """No other feed of the view has it."""
    source: Source
    below: tuple[Node, ...]
    """Nodes above the scan and below the state, from the scan up."""
    keys: tuple[str, ...] = ()
    """The columns by which its rows are spread over buckets; without any, all go into one."""
    aggregate: Aggregate | None = None
    stamped: bool = False
    """Whether its readings carry the order of their arrival."""

    @property
    def tables(self) -> tuple[Source, ...]:
        """The tables it looks things up in."""
        return tuple(node.table for node in self.below if isinstance(node, Lookup))

    def route(self, tables: Tables = MappingProxyType({})) -> Operator:
        """The part that runs beside the source, with the tables as they are now."""
        links = _derivations(self.below, tables)
        if self.aggregate:
            node = self.aggregate
            links.append(PartialAggregate(node.window, node.time, node.key_fields, node.folds))
        return Chain(links or [_everything(self.source.schema)])


@dataclass(frozen=True)
class Stages:
    """A view as the runtimes see it."""

    view: ViewPlan
    feeds: tuple[Feed, ...]
    state: Stateful | None
    above: tuple[Node, ...]

    @property
    def name(self) -> str:
        """The view's."""
        return self.view.name

    @property
    def late_to(self) -> str | None:
        """Where its late readings go."""
        return self.view.options.get("late_to")

    @property
    def shedding(self) -> Shedding | None:
        """How it gives readings up, if it does."""
        overload = self.state.overload if isinstance(self.state, Join) else None
        return overload if isinstance(overload, Shedding) else None

    @property
    def stateful(self) -> bool:
        """Whether it has a part that runs by key."""
        return self.state is not None

    @property
    def only_selects(self) -> bool:
        """Whether it is a selection and a projection, and nothing else."""
        return self.state is None and [type(node) for node in self.feeds[0].below] == [Select, Project]

    @property
    def spread(self) -> bool:
        """Whether its state can be in several buckets."""
        return all(feed.keys for feed in self.feeds)

    @property
    def clocks(self) -> tuple[Feed, ...]:
        """The feeds whose watermarks count: a table is there from the start and holds nobody back."""
        return tuple(feed for feed in self.feeds if not feed.source.is_table) or self.feeds

    @cached_property
    def places(self) -> dict[str, int]:
        """Which of the operator's streams each feed is."""
        return {feed.name: place for place, feed in enumerate(self.feeds)}

    def operate(self) -> Operator:
        """The part that runs by key."""
        assert self.state is not None, "a plan without state has no second part"
        return Chain([_operator(self.name, self.state), *_derivations(self.above)])


def cut_into_stages(view: ViewPlan) -> Stages:
    """Find the place where a plan is shuffled."""
    above, state = _spine(view.root)
    if isinstance(state, Scan):
        return Stages(view, (Feed(state.source.name, state.source, above),), None, ())
    assert isinstance(state, Stateful)
    return Stages(view, tuple(_feed(view, state, place) for place in range(len(state.inputs))), state, above)


def _feed(view: ViewPlan, state: Stateful, place: int) -> Feed:
    below, scan = _spine(state.inputs[place])
    if not isinstance(scan, Scan):
        told = {Aggregate: "an aggregate", Join: "a join", Gather: "a GATHER"}
        raise InputError(f"view {view.name!r} holds {told[type(scan)]} below {told[type(state)]}; make it a view")
    if isinstance(state, Join):
        return Feed(state.sides[place].name, scan.source, below, state.keys(place), stamped=state.counted)
    if isinstance(state, Gather):
        return Feed(scan.source.name, scan.source, below, (state.key,))
    return Feed(scan.source.name, scan.source, below, state.keys, state)


def _spine(root: Node) -> tuple[tuple[Node, ...], Node]:
    """The selections and projections on the way down, from the lowest up, and what they stand on."""
    found: list[Node] = []
    node = root
    while isinstance(node, Select | Project | Lookup):
        found.append(node)
        node = node.input
    return tuple(reversed(found)), node


def _operator(view: str, node: Stateful) -> Operator:
    if isinstance(node, Join):
        return _join(view, node)
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
    return WindowAggregate(node.window, node.key_fields, node.folds)


def _join(view: str, node: Join) -> Operator:
    if isinstance(node.overload, Spilling):
        spill = FolderSpill(Path(node.overload.folder) / f"{view}-{uuid4().hex}")
        return SpillingJoin(node.sides, spill, node.overload.memory_rows, node.technique, node.limit)
    if isinstance(node.overload, Shedding):
        hashed = node.technique == "amjoin"
        return SheddingJoin(node.sides, node.overload.memory_rows, node.overload.policy, node.limit, hashed=hashed)
    return MultiJoin(node.sides, node.technique, node.limit)


def _derivations(nodes: Sequence[Node], tables: Tables = MappingProxyType({})) -> list[Operator]:
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
    if where:
        links.append(Derive(_columns(where.schema), where.predicate))
    return links


def _everything(schema: pa.Schema) -> Operator:
    return Derive(_columns(schema))


def _columns(schema: pa.Schema) -> list[tuple[str, Expression]]:
    return [(field.name, Expression.of(field.name, field.type)) for field in schema]
