"""Which kernels a pipeline needs, for those who compile them ahead."""

from collections.abc import Callable
from functools import partial

from skerry.build.join import SHEDDING
from skerry.build.table import name_kernels
from skerry.index.precompile import precompile_index
from skerry.kernels.precompile import PRECOMPILERS
from skerry.pipeline.pipeline import Pipeline
from skerry.plan.fan_out import FanOut
from skerry.shedding.precompile import precompile_shedding

__all__ = ["list_precompiled"]


def list_precompiled(pipeline: Pipeline, *, subscribed: bool) -> list[Callable[[], None]]:
    """What calls the kernels that the views and the query index need, beside those that every pipeline does."""
    names = {name for view in pipeline.views for state in view.states for name in name_kernels(state)}
    indexed = subscribed or pipeline.selections or any(isinstance(view.view.root, FanOut) for view in pipeline.views)
    return [*map(_find, sorted(names)), *([precompile_index] if indexed else [])]


def _find(name: str) -> Callable[[], None]:
    """The kernels of a name: a kind of ``kernels.precompile``, or the policy of a join that sheds."""
    if name in PRECOMPILERS:
        return PRECOMPILERS[name]
    return partial(precompile_shedding, name.removeprefix(SHEDDING))
