"""Which kernels a pipeline needs, for those who compile them ahead."""

from collections.abc import Callable
from functools import partial

from skerry.index.precompile import precompile_index
from skerry.pipeline.pipeline import Pipeline
from skerry.plan.deduce import Deduce
from skerry.plan.nodes import Gather, Join
from skerry.plan.shared import Deal
from skerry.shedding.precompile import precompile_shedding

__all__ = ["calls_of", "kinds_of"]

_KERNELS = {Deduce: "rules", Gather: "gather", Join: "snjoin"}


def kinds_of(pipeline: Pipeline) -> set[str]:
    """The kinds of kernels that the views need beside those that all do."""
    states = [state for view in pipeline.views for state in view.states]
    found = {kind for state in states for node, kind in _KERNELS.items() if isinstance(state, node)}
    techniques = {state.technique for state in states if isinstance(state, Join)}
    return found | ({"rivals"} if techniques - {"snjoin"} else set())


def calls_of(pipeline: Pipeline, *, subscribed: bool) -> list[Callable[[], None]]:
    """What calls the kernels of the query index and of the policies that the views need."""
    policies = {view.shedding.policy for view in pipeline.views if view.shedding}
    found: list[Callable[[], None]] = [partial(precompile_shedding, policy) for policy in sorted(policies)]
    indexed = subscribed or pipeline.selections or any(isinstance(view.view.root, Deal) for view in pipeline.views)
    return [*found, precompile_index] if indexed else found
