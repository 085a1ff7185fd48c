"""The views of a run, from what was written down of them: planned as they were, their sources opened again."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from skerry.build.cut import CutView, cut_view
from skerry.catalog import Catalog, Source, View
from skerry.errors import InputError
from skerry.lang.sql import Session
from skerry.pipeline.checkpoint_folder import describe_difference
from skerry.pipeline.pipeline import Pipeline
from skerry.pipeline.pipeline_builder import PipelineBuilder
from skerry.pipeline.view_set import Group, ViewSet
from skerry.plan.limits import Limits
from skerry.plan.sharing import Copy, leave
from skerry.plan.view import ViewPlan
from skerry.sources.source import Connector

__all__ = ["ViewPlanner", "describe_source", "leave_group"]


class ViewPlanner:
    """Plans views in the way of one run. ``plans`` are what its views mean; ``fit`` is done to each source it opens.

    ``folder`` is the run's, for messages.
    """

    def __init__(self, catalog: Catalog, limits: Limits, builder: PipelineBuilder) -> None:
        self.catalog, self.builder, self._limits = catalog, builder, limits
        self.plans: dict[str, ViewPlan] = {}
        self.fit: Callable[[Connector], Connector] = lambda connector: connector
        self.folder = Path()

    def open_session(self, views: Iterable[View]) -> Session:
        """What understands views, where there are these and no others."""
        return Session(self.catalog.with_views(views), self.builder.base, self._limits)

    def plan_group(self, group: Group) -> tuple[CutView, tuple[Copy, ...]]:
        """A group, as its views were when it was made, without those that have left; and copies of its answers."""
        session = self.open_session([*group.read, *group.views])
        plans = [session.plan(view.name) for view in group.views]
        self.plans |= {plan.name: plan for plan in plans if plan.name in group.names}
        shared, copies = self.builder.share(plans)
        if len(shared) != 1:
            names = ", ".join(plan.name for plan in plans)
            wrong = f"the views {names} were answered together in the checkpoint, and would not be any more"
            raise InputError(f"{wrong}; go on with the version of Skerry that it was begun with")
        return leave_group(self.builder.cut(shared[0]), copies, group.gone)

    def plan_set(self, found: ViewSet) -> Pipeline:
        """The pipeline of a version, from what was written down of it."""
        planned = {number: self.plan_group(group) for number, group in found.groups.items()}
        cuts = {number: cut for number, (cut, _) in planned.items()}
        copies = tuple(copy for _, each in planned.values() for copy in each)
        connectors, foreign = self.reopen(found.sources)
        tables = {table.name: table for cut in cuts.values() for table in cut.view.tables}
        views, numbers = tuple(cuts.values()), tuple(cuts)
        builder = self.builder
        return Pipeline(
            connectors,
            views,
            builder.step_rows,
            foreign,
            tuple(tables.values()),
            builder.base,
            copies=copies,
            numbers=numbers,
        )

    def reopen(self, described: Mapping[str, str]) -> tuple[tuple[Connector, ...], tuple[Source, ...]]:
        """The sources that were written down, opened again, and those that the runtime reads by itself.

        One that is another by now is refused.
        """
        known = {source.name: source for source in self.catalog.sources()}
        connectors, foreign = [], []
        for name, before in described.items():
            source = known.get(name)
            own = source is not None and not source.is_table and not self.builder.is_foreign(source)
            connector = self.builder.open(source) if source and own else None
            now = describe_source(connector) if connector else source.text if source else ""
            if now != before:
                raise InputError(describe_difference(self.folder, before, now))
            if connector:
                connectors.append(self.fit(connector))
            elif source and not source.is_table:
                foreign.append(source)
        return tuple(connectors), tuple(foreign)


def leave_group(cut: CutView, copies: Sequence[Copy], names: Iterable[str]) -> tuple[CutView, tuple[Copy, ...]]:
    """A plan and the copies of its answers, after some views have left one after the other."""
    plan, rest = cut.view, tuple(copies)
    for name in names:
        plan, rest = leave(plan, rest, name)
    return cut if plan is cut.view else cut_view(plan), rest


def describe_source(connector: Connector) -> str:
    """What a source is, so that a run that goes on can see that it is the same."""
    return f"{connector.definition.text}\nsource {connector.definition.name} reads {connector.inventory()}"
