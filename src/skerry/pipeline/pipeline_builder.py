"""From plans to a pipeline: the sources that views read, opened, and the views cut into stages."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from skerry.build.cut import CutView, cut_view
from skerry.build.table import NO_TABLES
from skerry.catalog import Catalog, Source
from skerry.errors import InputError, OptionError
from skerry.pipeline.pipeline import Pipeline
from skerry.plan.rewrites.narrow_lookups import narrow_lookups
from skerry.plan.rewrites.resolve_paths import resolve_paths
from skerry.plan.sharing import Copy, find_copies, share
from skerry.plan.view import ViewPlan
from skerry.sources.connectors import open_connector
from skerry.sources.source import Connector

__all__ = ["PipelineBuilder"]


@dataclass(frozen=True)
class PipelineBuilder:
    """Builds pipelines for one runtime. Relative paths start at ``base``."""

    catalog: Catalog
    base: Path
    runtime: str
    step_rows: int

    def build(
        self,
        plans: Sequence[ViewPlan],
        others: Collection[Source] = (),
        open_: Callable[[Source], Connector] | None = None,
    ) -> Pipeline:
        """A pipeline for these views, which reads some other sources too. ``open_`` opens them, if given."""
        plans = [narrow_lookups(plan) for plan in plans]
        read = {source.name: source for plan in plans for source in plan.sources}
        read |= {source.name: source for source in others}
        if not read:
            raise InputError("there is no view to run; add one with CREATE MATERIALIZED VIEW")
        foreign = tuple(source for source in read.values() if open_ is None and self.is_foreign(source))
        own = [source for source in read.values() if source not in foreign]
        connectors = tuple((open_ or self.open)(source).divide(self.step_rows) for source in own)
        _refuse_doubles(connectors)
        tables = {table.name: table for plan in plans for table in plan.tables}
        shared, copies = self.share(plans)
        views = tuple(map(self.cut, shared))
        return Pipeline(connectors, views, self.step_rows, foreign, tuple(tables.values()), self.base, copies=copies)

    def share(self, plans: Sequence[ViewPlan]) -> tuple[list[ViewPlan], tuple[Copy, ...]]:
        """The same views, those that are alike as one plan, and copies of answers for those that are equal to another.

        A network folds on the way, by windows of one size, and has no copies.
        """
        in_network = self.runtime == "network"
        running, copies = (list(plans), ()) if in_network else find_copies(plans)
        return share(running, sliced=not in_network), copies

    def is_foreign(self, source: Source) -> bool:
        """Whether the runtime reads a source by itself: its connector has the runtime's name, and no other reads it."""
        return source.connector == self.runtime

    def open(self, source: Source) -> Connector:
        """A source, opened; the catalogue is told which sensors it carries."""
        connector = open_connector(source, self.base)
        if sensors := connector.sensors():
            self.catalog.put_sensors(source.name, sensors)
        return connector.divide(self.step_rows)

    def cut(self, plan: ViewPlan) -> CutView:
        """A plan, cut into stages."""
        return cut_view(resolve_paths(narrow_lookups(plan), self.base))

    def try_out(self, view: CutView) -> None:
        """Make the operators of a view once, as far as they can be made without its tables."""
        for feed in view.feeds:
            if not feed.tables:
                feed.build_route(NO_TABLES)
        if view.stateful:
            view.build_operate()


def _refuse_doubles(connectors: Sequence[Connector]) -> None:
    """Refuse two sources that cannot be open at the same time."""
    owners: dict[str, str] = {}
    for connector in connectors:
        name, exclusive = connector.definition.name, connector.exclusive
        if exclusive is not None and owners.setdefault(exclusive, name) != name:
            raise OptionError(f"sources {owners[exclusive]!r} and {name!r} both have {exclusive}; give each its own")
