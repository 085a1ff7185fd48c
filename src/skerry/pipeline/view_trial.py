"""Tries out a view that is to come to a run: what it reads is opened, its operators are made, and it is cut."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from skerry.build.cut import CutView
from skerry.catalog import Catalog, Source, View
from skerry.errors import InputError
from skerry.lang.sql import Session
from skerry.lang.sql.view_options import read_spark_sink
from skerry.pipeline.backfill import check_backfill
from skerry.pipeline.pipeline import Pipeline
from skerry.pipeline.pipeline_builder import PipelineBuilder
from skerry.plan.view import ViewPlan
from skerry.sources.source import Connector
from skerry.sources.spark import is_live
from skerry.sources.tables import Tables

__all__ = ["Candidate", "ViewTrial"]


@dataclass(frozen=True)
class Candidate:
    """A view that may come: what it means, cut, and the sources that are to be opened for it."""

    view: View
    plan: ViewPlan
    cut: CutView
    connectors: Mapping[str, Connector] = field(default_factory=dict)


@dataclass(frozen=True)
class ViewTrial:
    """What a run has, and so what can come to it. ``fit`` makes what its runtime needs of a connector."""

    pipeline: Pipeline
    builder: PipelineBuilder
    catalog: Catalog
    fit: Callable[[Connector], Connector]

    def try_out(self, view: View, session: Session, known: Iterable[str]) -> Candidate:
        """Plan a view, open what it reads, make its operators. ``known`` are the sources that the run has read."""
        plan, builder = session.plan(view.name), self.builder
        _check_sink(plan)
        check_backfill(plan, self.pipeline, known)
        connectors = {source.name: self._open(source) for source in plan.sources if not self._is_read(source)}
        Tables([table for table in plan.tables if not self.has_table(table)], builder.base, self.catalog)
        cut = builder.cut(plan)
        builder.try_out(cut)
        return Candidate(view, plan, cut, connectors)

    def has_table(self, table: Source) -> bool:
        """Whether a table is known already; refuse another of the same name."""
        known = {each.name: each for each in self.pipeline.tables}
        if table.name in known and known[table.name].text != table.text:
            raise InputError(f"table {table.name!r} is another by now than the run reads; start the run again")
        return table.name in known

    def _is_read(self, source: Source) -> bool:
        """Whether a source is read already; refuse another of the same name."""
        read = {each.name: each for each in self.pipeline.sources}
        if source.name in read and read[source.name].text != source.text:
            raise InputError(f"source {source.name!r} is another by now than the run reads; start the run again")
        return source.name in read

    def _open(self, source: Source) -> Connector:
        if self.builder.is_foreign(source):
            reads = f"{self.builder.runtime} reads source {source.name!r} by itself, and only from the start of a run"
            raise InputError(f"{reads}; start another run")
        connector = self.builder.open(source)
        if connector.live and self.builder.runtime == "spark" and not self._has_live_source():
            # Spark's query is told when it starts whether it ends with its input.
            wrong = f"source {source.name!r} has no end, and all sources of this run have one, so the run will end"
            raise InputError(f"{wrong}; start the run again")
        return self.fit(connector)

    def _has_live_source(self) -> bool:
        return self.pipeline.live or any(map(is_live, self.pipeline.foreign))


def _check_sink(plan: ViewPlan) -> None:
    """Refuse a view whose answers go where nothing was opened for them when the run began."""
    if read_spark_sink(plan.name, plan.options) is not None:
        wrong = f"the answers of view {plan.name!r} are written by Spark itself, which is made ready when a run begins"
        raise InputError(f"{wrong}; start the run again")
