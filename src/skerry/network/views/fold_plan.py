"""Where partial aggregates go to be merged, and when: up a tree, or to cluster heads."""

from dataclasses import dataclass

from skerry.network.routing.tree import find_tree
from skerry.network.views.deployment import Deployment
from skerry.network.views.placement import Placement
from skerry.network.views.way import Way

__all__ = ["FoldPlan", "make_fold_plan"]


@dataclass(frozen=True)
class FoldPlan:
    """By mote, to whom it sends what it has of a slice, and in which slot after the slice's end.

    Slots are so long that what is sent in one arrives within as many as it has hops to go.
    """

    stops: tuple[int | None, ...]
    """None for the base station, which delivers."""
    slots: tuple[int, ...]


def make_fold_plan(deployment: Deployment, placement: Placement) -> FoldPlan:
    """What a placement that folds means in a deployment."""
    return _plan_heads(deployment) if Way.HEAD in placement.ways else _plan_tree(deployment)


def _plan_tree(deployment: Deployment) -> FoldPlan:
    """The deepest motes first, so that what a mote sends holds all that is below it."""
    depths = deployment.depths.tolist()
    return FoldPlan(
        find_tree(deployment.topology, deployment.base).parents, tuple(max(depths) - depth for depth in depths)
    )


def _plan_heads(deployment: Deployment) -> FoldPlan:
    """Members to their heads, then heads to the base station."""
    base, motes = deployment.base, range(len(deployment.topology))
    heads = [deployment.deliveries.find_head(mote) for mote in motes]
    stops = tuple(None if mote == base else base if heads[mote] == mote else heads[mote] for mote in motes)
    last = 1 + int(deployment.depths.max())
    return FoldPlan(stops, tuple(last if mote == base else int(heads[mote] == mote) for mote in motes))
