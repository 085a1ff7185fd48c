"""Figures 8 and 9: the join in the network, with and without relevance feedback."""

from dataclasses import dataclass

import pyarrow as pa

from skerry.experiments.figure import Figure, Outcome, Panel, Verdict
from skerry.experiments.snjoin.claims import judge_gain, judge_order
from skerry.experiments.snjoin.clustered_load import REACH, find_operation_us, make_clustered
from skerry.experiments.snjoin.distributed_join import BUFFER_SIZE, PROBINGS, measure_join
from skerry.experiments.snjoin.figure5_complete_join import OVERLOAD
from skerry.experiments.snjoin.measure_sizes import Tell

__all__ = ["StarCourse", "find_reductions", "measure_distributed_join"]

_PANELS = (
    Panel("answers_per_s", "answers per second"),
    Panel("delay_ms", "output delay, ms", logarithmic=True),
    Panel("drop_percent", "tuples without an answer, %"),
    Panel("width", "sensors per answer"),
)
_REDUCED = {
    "probes": "probes",
    "delay": "delay_ms",
    "drops": "drop_percent",
    "width": "width",
    "bytes": "kbytes_per_s",
}
"""The columns of the paper's Figure 9, and what they are measured by."""
_PAPER = {
    200: (0, 0, 0, 0, 0),
    400: (29.1, 23.6, 3.5, 3.4, 25.3),
    600: (41.2, 30.4, 5.1, 6.8, 38.6),
    800: (50.3, 37.7, 6.2, 7.2, 46.3),
    1000: (60.8, 47.5, 7.4, 7.9, 57.3),
    1200: (65.2, 54.1, 14.0, 8.1, 62.3),
    1400: (69.6, 58.8, 33.6, 8.6, 64.9),
    1600: (74.4, 65.4, 43.7, 9.3, 72.2),
    1800: (77.4, 67.6, 51.0, 9.9, 73.8),
    2000: (79.4, 70.1, 52.3, 11.5, 75.5),
}
_JUDGED = (400, 1000, 2000)
_ALIKE = (
    "values do not depend on where a sensor stands, so all heads are about equally relevant; what is learned is which "
    "clusters are large, and those that are not probed are missing (figure9_regions: where regions differ)"
)
_CROWDED = (
    "the head with the most to list is asked by nearly every tuple with feedback too, and limits the output as before; "
    "and a network in which most tuples have no answer gets few notes to learn from"
)


@dataclass(frozen=True)
class StarCourse:
    """Which sizes are measured, for how many simulated seconds, the first window included."""

    sizes: tuple[int, ...]
    seconds: int


def measure_distributed_join(course: StarCourse, tell: Tell) -> tuple[Figure, Figure]:
    """Measure all techniques at all sizes: Figure 8; and how much less it takes with feedback: Figure 9."""
    operation_us = find_operation_us(make_clustered(course.sizes[-1], course.seconds), OVERLOAD)
    rows = []
    for size in course.sizes:
        clustered = make_clustered(size, course.seconds)
        for technique in PROBINGS:
            tell(f"{technique}, {size} sensors in {clustered.head_count} clusters")
            rows.append({"technique": technique, "sensors": size, **measure_join(technique, clustered, operation_us)})
    title = "Figure 8: the join in the network"
    figure = Figure("figure8", title, pa.Table.from_pylist(rows), "sensors", _PANELS, ())
    judged = figure.with_verdicts(_judge_rates(figure), _notes(course, operation_us))
    return judged, _compare(figure)


def find_reductions(figure: Figure, technique: str, against: str = "without") -> list[dict[str, object]]:
    """Per size, by how many percent a technique stays below another in what the paper's Figure 9 lists."""
    rows = {(row["technique"], row[figure.across]): row for row in figure.table.to_pylist()}
    found: list[dict[str, object]] = []
    for size in figure.line(technique, "probes")[0]:
        mine, other = rows[technique, size], rows[against, size]
        less = {name: _reduce(mine[measure], other[measure]) for name, measure in _REDUCED.items()}
        found.append({"technique": technique, figure.across: size, **less})
    return found


def _reduce(mine: float, other: float) -> float:
    return round(100 * (1 - mine / other), 1) if other else 0.0


def _compare(figure: Figure) -> Figure:
    """Figure 9: our reductions beside the paper's."""
    ours = [row for technique in ("feedback", "definition4") for row in find_reductions(figure, technique)]
    sizes = [size for size in figure.line("feedback", "probes")[0] if size in _PAPER]
    paper = [
        {"technique": "paper", "sensors": size, **dict(zip(_REDUCED, map(float, _PAPER[int(size)]), strict=True))}
        for size in sizes
    ]
    panels = tuple(Panel(name, f"{name}, % less with feedback") for name in _REDUCED)
    table = pa.Table.from_pylist(ours + paper)
    compared = Figure("figure9", "Figure 9: what relevance feedback saves", table, "sensors", panels, ())
    judged = [size for size in sizes if size in _JUDGED] or sizes[-1:]
    return compared.with_verdicts([_judge_reduction(compared, size, name) for size in judged for name in _REDUCED])


def _judge_reduction(figure: Figure, size: float, name: str) -> Verdict:
    """A saving should be as large as the paper's; what is lost of the width, no larger."""
    mine, paper = (dict(zip(*figure.line(technique, name), strict=True))[size] for technique in ("feedback", "paper"))
    if name == "width":
        outcome = Outcome.HOLDS if mine <= paper else Outcome.FAILS
    else:
        outcome = Outcome.HOLDS if mine >= paper else Outcome.DIRECTION if mine > 0 else Outcome.FAILS
    remark = "" if outcome is Outcome.HOLDS else _CROWDED if name == "drops" else _ALIKE
    verb = "at most so much narrower" if name == "width" else f"less {name}"
    return Verdict(f"{verb} with feedback, {size:,.0f} sensors", f"-{paper:g} %", f"{-mine:+.1f} %", outcome, remark)


def _judge_rates(figure: Figure) -> list[Verdict]:
    ranking = [["feedback"], ["without"], ["mjoin"]]
    above = "output rate at the largest size: SNJoin* with feedback above without above MJoin"
    gain = "output rate with feedback over without"
    return [
        judge_order(figure, "answers_per_s", ranking, above, _CROWDED),
        judge_gain(figure, ("feedback", "without"), "answers_per_s", 90, gain, _CROWDED),
    ]


def _notes(course: StarCourse, operation_us: float) -> list[str]:
    return [
        f"{course.seconds} s simulated, the first 60 not counted; sensors of one tuple per second, spread evenly over "
        f"a square, in clusters by HEED with a range of {REACH:.0%} of its side; a window of a minute; the paper's "
        "law with one value per rank, as Figure 6.",
        f"An operation (a message, a look into a table, a tuple listed) takes a head {operation_us:g} µs. At the "
        f"largest size MJoin then needs {OVERLOAD:g} times the time there is, as in Figure 5. Buffers hold "
        f"{BUFFER_SIZE:,} tuples in all; a full one drops tuples, and refuses probes, whose tuples have no answer.",
        "An answer is a tuple with a list of all that it joins with. Bytes are those of all messages, results carried "
        "from head to head included. Definition 4 to the letter probes one head on average.",
    ]
