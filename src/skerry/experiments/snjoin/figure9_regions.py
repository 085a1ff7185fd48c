"""Figure 9 again, where the values of a sensor depend on where it stands."""

from dataclasses import dataclass

import pyarrow as pa

from skerry.experiments.figure import Figure, Panel
from skerry.experiments.snjoin.clustered_load import ClusteredLoad, find_operation_us, make_clustered
from skerry.experiments.snjoin.distributed_join import measure_join
from skerry.experiments.snjoin.figure5_complete_join import OVERLOAD
from skerry.experiments.snjoin.figure8_distributed_join import find_reductions
from skerry.experiments.snjoin.measure_sizes import Tell

__all__ = ["RegionCourse", "measure_regions"]

_TECHNIQUES = ("without", "feedback")
_MEASURES = ("probes", "width", "bytes")


@dataclass(frozen=True)
class RegionCourse:
    """How many sensors, for how many seconds, in how many regions per side of the square."""

    sensors: int
    seconds: int
    sides: tuple[int, ...]


def measure_regions(course: RegionCourse, tell: Tell) -> Figure:
    """Measure with and without feedback, at several numbers of regions that share no value."""
    rows = []
    for side in course.sides:
        clustered = make_clustered(course.sensors, course.seconds, side)
        for technique in _TECHNIQUES:
            tell(f"{technique}, {side**2} regions")
            rows.append({"technique": technique, "regions": side**2, "seed": 1, **_measure(technique, clustered)})
    title = f"Figure 9 by regions: {course.sensors:,} sensors"
    measured = Figure("figure9_regions", title, pa.Table.from_pylist(rows), "regions", (), ())
    table = pa.Table.from_pylist(_compare(measured))
    panels = tuple(Panel(name, f"{name}, % less with feedback") for name in _MEASURES)
    panels += (Panel("output", "output rate of busy heads, % more with feedback"),)
    return Figure(measured.name, title, table, "regions", panels, (), _notes(measured))


def _compare(figure: Figure) -> list[dict[str, object]]:
    """The reductions, and by how much feedback raises the output rate."""
    rates = [figure.line(technique, "busy_answers_per_s")[1] for technique in _TECHNIQUES]
    gains = [round(100 * (mine / other - 1), 1) if other else 0.0 for other, mine in zip(*rates, strict=True)]
    rows = zip(find_reductions(figure.table.to_pylist(), "regions", "feedback"), gains, strict=True)
    return [{name: row[name] for name in ("technique", "regions", *_MEASURES)} | {"output": gain} for row, gain in rows]


def _measure(technique: str, clustered: ClusteredLoad) -> dict[str, float]:
    """All measures with heads that are never busy; and the output rate with heads that are."""
    busy = measure_join(technique, clustered, find_operation_us(clustered, OVERLOAD))
    return {**measure_join(technique, clustered, 0.0), "busy_answers_per_s": busy["answers_per_s"]}


def _notes(figure: Figure) -> tuple[str, ...]:
    widths = {technique: figure.line(technique, "width") for technique in _TECHNIQUES}
    (regions, all_widths), (_, kept) = widths["without"], widths["feedback"]
    shares = [
        f"{100 * mine / every:.0f} % with {count:g}"
        for count, mine, every in zip(regions, kept, all_widths, strict=True)
    ]
    return (
        "Sensors of different regions share no value; else as Figure 8. Probes, width and bytes are those of heads "
        f"that are never busy; the output rate is that of heads of which MJoin would need {OVERLOAD:g} times the time.",
        f"Of the sensors that belong into an answer, feedback finds {', '.join(shares)} regions.",
    )
