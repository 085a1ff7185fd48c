"""Run a pipeline in a simulated network: readings arise at motes, and rows meet where that costs least."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import pyarrow as pa

from skerry.build.cut import CutView
from skerry.errors import InputError, OptionError
from skerry.fjord.flow import RunningView
from skerry.fjord.runtime import Answers, FjordRuntime
from skerry.network.views.cost import Cost, estimate
from skerry.network.views.deployment import Deployment, find_deployment
from skerry.network.views.flow import NetworkFlow
from skerry.network.views.folded_flow import FoldedFlow
from skerry.network.views.placement import Placement, list_placements
from skerry.network.views.survey import Survey, SurveyFlow
from skerry.pipeline.outcome import Outcome
from skerry.pipeline.pipeline import Pipeline
from skerry.pipeline.runtime import RunOptions
from skerry.sinks.memory import MemorySink
from skerry.sinks.sink import Sink

__all__ = ["NetworkRuntime", "PlacedView", "choose_placements", "find_view_deployment"]

_SURVEYED = 20_000
"""So many readings are looked at, about, before it is decided where rows meet."""


@dataclass(frozen=True)
class PlacedView:
    """A view, its deployment, what each placement would cost, and the one that is taken."""

    view: CutView
    deployment: Deployment
    survey: Survey
    costs: tuple[tuple[Placement, Cost], ...]
    """The cheapest first."""
    wanted: str = "auto"

    @property
    def placement(self) -> Placement:
        """The cheapest of those that the view allows."""
        return next(placement for placement, _ in self.costs if self.wanted in ("auto", placement.name))

    @property
    def cost(self) -> Cost:
        """What the one that is taken costs."""
        return next(cost for placement, cost in self.costs if placement == self.placement)


class NetworkRuntime(FjordRuntime):
    """Reads as the runtime in this process does, and lets motes work in place of queues."""

    def __init__(self, pipeline: Pipeline, sink: Sink, options: RunOptions | None = None) -> None:
        options = options or RunOptions()
        _check(pipeline, options)
        pipeline = replace(pipeline, indexed=False)
        self._placed = choose_placements(pipeline, options)
        super().__init__(pipeline, sink, options)

    def _make_flow(self, view: CutView, tables: Mapping[str, pa.RecordBatch]) -> RunningView:
        placed = self._placed[view.name]
        make = FoldedFlow if placed.placement.folds else NetworkFlow
        return make(view, tables, placed.deployment, placed.placement)

    def _account(self, answers: Answers) -> Outcome:
        """What views came to, and what motes have sent for them."""
        flows = [flow for flow in self._flows.values() if isinstance(flow, NetworkFlow)]
        return Outcome(
            answers={output: rows.num_rows for output, rows in answers.items()},
            failures={name: reason for flow in flows for name, reason in flow.failures.items()},
            figures={flow.view.name: flow.take_figures() for flow in flows},
        )


class _SurveyRuntime(FjordRuntime):
    """Answers views in this process, and counts what motes would send."""

    def _make_flow(self, view: CutView, tables: Mapping[str, pa.RecordBatch]) -> RunningView:
        return SurveyFlow(view, tables, find_view_deployment(view, self._pipeline))

    def sum_up(self) -> dict[str, Survey]:
        """What was counted, by view."""
        return {flow.view.name: flow.sum_up() for flow in self._flows.values() if isinstance(flow, SurveyFlow)}


def choose_placements(pipeline: Pipeline, options: RunOptions) -> dict[str, PlacedView]:
    """By view, what its placements would cost for the first readings."""
    surveyed = replace(pipeline.divide(_SURVEYED), indexed=False, step_rows=_SURVEYED)
    runtime = _SurveyRuntime(surveyed, MemorySink(), replace(options, checkpoint=None, register=None))
    looked = 0

    def is_enough() -> bool:
        return looked >= _SURVEYED

    for outcome, _ in runtime.steps(is_enough):
        looked += sum(tally.read for tally in outcome.tallies.values())
    surveys = runtime.sum_up()
    return {view.name: _choose(view, pipeline, surveys[view.name]) for view in pipeline.views}


def _choose(view: CutView, pipeline: Pipeline, survey: Survey) -> PlacedView:
    deployment = find_view_deployment(view, pipeline)
    wanted = view.view.options.get("place", "auto")
    possible = list_placements(view)
    if wanted not in ("auto", *(each.name for each in possible)):
        known = ", ".join(dict.fromkeys(each.name for each in possible))
        raise OptionError(
            f"view {view.name!r} in {deployment.topology.name} cannot have place = {wanted!r}; known are {known}"
        )
    costs = sorted(
        ((each, estimate(each, survey, deployment)) for each in possible), key=lambda found: found[1].energy_mj
    )
    return PlacedView(view, deployment, survey, tuple(costs), wanted)


def find_view_deployment(view: CutView, pipeline: Pipeline) -> Deployment:
    """The deployment that a view's sources are in."""
    sources = [feed.source for feed in view.feeds]
    deployment = find_deployment(sources, pipeline.base)
    if deployment is None:
        names = ", ".join(sorted({source.name for source in sources}))
        raise InputError(f"view {view.name!r} reads {names}, in no network; say in which: WITH (topology = 'grid:7x7')")
    return deployment


def _check(pipeline: Pipeline, options: RunOptions) -> None:
    if options.checkpoint:
        raise OptionError("a run in a network keeps no checkpoint; leave --checkpoint out")
    if pipeline.live:
        raise InputError("a network is simulated over input that ends; a source here has no end")
    if options.catalog and options.catalog.subscriptions.streams():
        raise InputError("subscriptions are not answered in a network; write views")
