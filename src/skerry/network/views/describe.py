"""Where a view's rows may meet, and what that costs: a table for ``explain``."""

from skerry.network.views.cost import Cost
from skerry.network.views.runtime import PlacedView

__all__ = ["describe_placements"]


def describe_placements(placed: PlacedView) -> str:
    """One line per placement, the cheapest first; the one that is taken is marked."""
    field, survey, seconds = placed.field, placed.survey, placed.survey.span_us / 1e6
    rows = sum(int(stream.rows.sum()) for stream in survey.streams)
    heading = (
        f"view {placed.view.name} in {field.topology.name}, base station {field.base}: "
        f"{rows:,} rows and {survey.answers:,} answers in {seconds:,.0f} s of readings"
    )
    lines = [f"  {'place':<15}{'messages':>12}{'bytes':>14}{'mJ':>12}  how"]
    for placement, cost in placed.costs:
        mark = "*" if placement == placed.placement else " "
        lines.append(f"{mark} {placement.name:<15}{_show(cost)}  {placement.describe(placed.view)}")
    return "\n".join([heading, *lines])


def _show(cost: Cost) -> str:
    return f"{cost.messages:>12,.0f}{cost.bytes:>14,.0f}{cost.energy_mj:>12,.1f}"
