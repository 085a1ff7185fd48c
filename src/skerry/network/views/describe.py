"""Where a view's rows may meet, and what that costs: a table for ``explain``."""

from skerry.network.views.cost import Cost
from skerry.network.views.placement import NOT_OFFERED, meets_anywhere
from skerry.network.views.runtime import PlacedView

__all__ = ["describe_placements"]


def describe_placements(placed: PlacedView) -> str:
    """One line per placement, the cheapest first; the one that is taken is marked."""
    deployment, survey, seconds = placed.deployment, placed.survey, placed.survey.span_us / 1e6
    rows = sum(int(stream.rows.sum()) for stream in survey.streams)
    heading = (
        f"view {placed.view.name} in {deployment.topology.name}, base station {deployment.base}: "
        f"{rows:,} rows and {survey.answers:,} answers in {seconds:,.0f} s of readings"
    )
    is_lossy = not deployment.odds.is_lossless
    lines = [f"  {'place':<15}{'messages':>12}{'bytes':>14}{'mJ':>12}{'  arrive' if is_lossy else ''}  how"]
    for placement, cost in placed.costs:
        mark = "*" if placement == placed.placement else " "
        lines.append(f"{mark} {placement.name:<15}{_show(cost, is_lossy)}  {placement.describe(placed.view)}")
    if meets_anywhere(placed.view):
        lines += [
            f"  {name:<15}{'-':>12}{'-':>14}{'-':>12}{'       -' if is_lossy else ''}  {reason}"
            for name, reason in NOT_OFFERED.items()
        ]
    return "\n".join([heading, *lines])


def _show(cost: Cost, is_lossy: bool) -> str:
    arrival = f"{cost.arrival:>8.0%}" if is_lossy else ""
    return f"{cost.messages:>12,.0f}{cost.bytes:>14,.0f}{cost.energy_mj:>12,.1f}{arrival}"
