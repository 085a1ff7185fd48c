"""What folding on the way costs: a mote sends the groups of all that it has heard of, as likely as it has."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from skerry.model.arrays import Int64s
from skerry.network.message import HEADER_BYTES
from skerry.network.views.deployment import Deployment
from skerry.network.views.fold_plan import FoldPlan, make_fold_plan
from skerry.network.views.placement import Placement

__all__ = ["Folded", "expect_folded_share", "expect_folding"]

_ANY = "any"
"""In place of a group: whether there is anything."""


@dataclass
class Folded:
    """What motes make of their own readings: by slice and mote, the groups; and how large a group's row is."""

    groups: dict[int, dict[int, set[str]]] = field(default_factory=dict)
    rows: int = 0
    bytes: int = 0

    @property
    def mean_bytes(self) -> float:
        """Bytes per row."""
        return self.bytes / max(self.rows, 1)


def expect_folding(placement: Placement, folded: Folded, deployment: Deployment) -> tuple[float, float]:
    """Messages and bytes of all slices, as expected."""
    plan = make_fold_plan(deployment, placement)
    messages = rows = 0.0
    for groups in folded.groups.values():
        sent, carried = _expect_slice(groups, plan, deployment)
        messages, rows = messages + sent, rows + carried
    return messages, messages * HEADER_BYTES + rows * folded.mean_bytes


def expect_folded_share(placement: Placement, rows: Int64s, deployment: Deployment) -> float:
    """The share of readings that arrive at the base station in what they were folded into, by where they arise."""
    plan = make_fold_plan(deployment, placement)
    arrival = np.ones(rows.size)
    for mote in sorted(range(rows.size), key=plan.slots.__getitem__, reverse=True):
        if (stop := plan.stops[mote]) is not None:
            arrival[mote] = deployment.odds.find_between(mote, stop)[0] * arrival[stop]
    return float(rows @ arrival / max(int(rows.sum()), 1)) if rows.any() else 1.0


def _expect_slice(groups: Mapping[int, set[str]], plan: FoldPlan, deployment: Deployment) -> tuple[float, float]:
    """Messages of one slice, and rows in them. Those that speak earlier come first."""
    present: dict[int, dict[str, float]] = {
        mote: dict.fromkeys((_ANY, *found), 1.0) for mote, found in groups.items() if found
    }
    messages = rows = 0.0
    for mote in sorted(range(len(plan.stops)), key=plan.slots.__getitem__):
        stop, here = plan.stops[mote], present.get(mote)
        if stop is None or here is None:
            continue
        arrival, sent = deployment.odds.find_between(mote, stop)
        there = present.setdefault(stop, {})
        for group, likely in here.items():
            there[group] = 1.0 - (1.0 - there.get(group, 0.0)) * (1.0 - likely * arrival)
        messages += here[_ANY] * sent
        rows += (sum(here.values()) - here[_ANY]) * sent
    return float(messages), float(rows)
