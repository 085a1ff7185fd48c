"""A plan cut where it must be shuffled: what runs beside the source, and what runs by key.

    Scan ─ Select ─ Project ─ Aggregate ─ Select ─ Project
    └───────── route ────────┴───────── operate ─────────┘
              by split              by bucket of the keys

A plan without state has no second part. Each part is built afresh wherever it runs.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from skerry.catalog import Source
from skerry.errors import InputError
from skerry.operators.aggregate import WindowAggregate
from skerry.operators.derive import Derive, Expression
from skerry.operators.operator import Chain, Operator
from skerry.operators.partial import PartialAggregate
from skerry.plan.nodes import Aggregate, Node, Project, Scan, Select, ViewPlan

__all__ = ["Stages", "cut_into_stages"]


@dataclass(frozen=True)
class Stages:
    """A view as the runtimes see it."""

    view: ViewPlan
    below: tuple[Node, ...]
    """Nodes above the scan and below the aggregate, from the scan up."""
    aggregate: Aggregate | None
    above: tuple[Node, ...]

    @property
    def name(self) -> str:
        """The view's."""
        return self.view.name

    @property
    def source(self) -> Source:
        """The one source that feeds it."""
        return self.view.sources[0]

    @property
    def late_to(self) -> str | None:
        """Where its late readings go."""
        return self.view.options.get("late_to")

    @property
    def stateful(self) -> bool:
        """Whether it has a part that runs by key."""
        return self.aggregate is not None

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns by which rows are spread over buckets."""
        return self.aggregate.keys if self.aggregate else ()

    def route(self) -> Operator:
        """The part that runs beside the source."""
        links = _derivations(self.below)
        if self.aggregate:
            node = self.aggregate
            links.append(PartialAggregate(node.window, node.time, node.key_fields, node.folds))
        return Chain(links or [_everything(self.source.schema)])

    def operate(self) -> Operator:
        """The part that runs by key."""
        assert self.aggregate is not None, "a plan without state has no second part"
        node = self.aggregate
        return Chain([WindowAggregate(node.window, node.key_fields, node.folds), *_derivations(self.above)])


def cut_into_stages(view: ViewPlan) -> Stages:
    """Find the place where a plan is shuffled."""
    spine = _spine(view.root)
    aggregates = [place for place, node in enumerate(spine) if isinstance(node, Aggregate)]
    if len(aggregates) > 1:
        raise InputError(f"view {view.name!r} aggregates twice; make the first a view of its own")
    if not aggregates:
        return Stages(view, spine, None, ())
    place = aggregates[0]
    aggregate = spine[place]
    assert isinstance(aggregate, Aggregate)
    return Stages(view, spine[:place], aggregate, spine[place + 1 :])


def _spine(root: Node) -> tuple[Node, ...]:
    """The nodes above the scan, from the scan up."""
    found: list[Node] = []
    node = root
    while not isinstance(node, Scan):
        found.append(node)
        (node,) = node.inputs
    return tuple(reversed(found))


def _derivations(nodes: Sequence[Node]) -> list[Operator]:
    """Selections and projections as operators; a selection is taken into the projection above it."""
    links: list[Operator] = []
    where: Expression | None = None
    schema: pa.Schema | None = None
    for node in nodes:
        if isinstance(node, Select):
            if where is not None:
                links.append(Derive(_columns(node.schema), where))
            where, schema = node.predicate, node.schema
        elif isinstance(node, Project):
            links.append(Derive(node.columns, where))
            where = None
    if where is not None:
        assert schema is not None
        links.append(Derive(_columns(schema), where))
    return links


def _everything(schema: pa.Schema) -> Operator:
    return Derive(_columns(schema))


def _columns(schema: pa.Schema) -> list[tuple[str, Expression]]:
    return [(field.name, Expression.of(field.name, field.type)) for field in schema]
