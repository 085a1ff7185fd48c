"""Figures 8 and 9: the join in the network, with and without relevance feedback."""

from dataclasses import dataclass
from itertools import product
from statistics import mean
from typing import Any

import pyarrow as pa

from skerry.experiments.figure import Figure, Outcome, Panel, Verdict
from skerry.experiments.snjoin.claims import judge_gain, judge_order
from skerry.experiments.snjoin.clustered_load import REACH, find_operation_us, make_clustered
from skerry.experiments.snjoin.distributed_join import BUFFER_SIZE, PROBINGS, measure_join
from skerry.experiments.snjoin.figure5_complete_join import OVERLOAD
from skerry.experiments.snjoin.measure_sizes import Tell

__all__ = ["StarCourse", "find_reductions", "measure_distributed_join", "summarise_seeds"]

_PANELS = (
    Panel("answers_per_s", "answers per second", low="answers_per_s_least", high="answers_per_s_most"),
    Panel("delay_ms", "output delay, ms", True, "delay_ms_least", "delay_ms_most"),
    Panel("drop_percent", "tuples without an answer, %", low="drop_percent_least", high="drop_percent_most"),
    Panel("width", "sensors per answer", low="width_least", high="width_most"),
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
    """Which sizes are measured, for how many simulated seconds, the first window included, and with how many seeds."""

    sizes: tuple[int, ...]
    seconds: int
    seeds: int = 1


Rows = list[dict[str, Any]]
"""One per technique, size and seed."""


def measure_distributed_join(course: StarCourse, tell: Tell) -> tuple[Figure, Figure]:
    """Measure all techniques at all sizes: Figure 8; and how much less it takes with feedback: Figure 9."""
    operation_us = find_operation_us(make_clustered(course.sizes[-1], course.seconds), OVERLOAD)
    rows: Rows = []
    for size, seed in product(course.sizes, range(1, course.seeds + 1)):
        clustered = make_clustered(size, course.seconds, seed=seed)
        for technique in PROBINGS:
            tell(f"{technique}, {size} sensors in {clustered.head_count} clusters, seed {seed}")
            measured = measure_join(technique, clustered, operation_us)
            rows.append({"technique": technique, "sensors": size, "seed": seed, **measured})
    title = "Figure 8: the join in the network"
    table = pa.Table.from_pylist(summarise_seeds(rows, "sensors"))
    figure = Figure("figure8", title, table, "sensors", _PANELS, ())
    judged = figure.with_verdicts(_judge_rates(figure), _notes(course, operation_us))
    return judged, _compare(rows)


def summarise_seeds(rows: Rows, across: str) -> Rows:
    """Per technique and size the mean over all seeds, with the least and the most of each measure.

    >>> row = {"technique": "a", "sensors": 2, "seed": 1, "rate": 4.0}
    >>> summarise_seeds([row, row | {"seed": 2, "rate": 6.0}], "sensors")
    [{'technique': 'a', 'sensors': 2, 'seeds': 2, 'rate': 5.0, 'rate_least': 4.0, 'rate_most': 6.0}]
    """
    groups: dict[tuple[Any, Any], Rows] = {}
    for row in rows:
        groups.setdefault((row["technique"], row[across]), []).append(row)
    return [_summarise(technique, across, size, group) for (technique, size), group in groups.items()]


def _summarise(technique: str, across: str, size: float, group: Rows) -> dict[str, Any]:
    found: dict[str, Any] = {"technique": technique, across: size, "seeds": len(group)}
    for name in (name for name in group[0] if name not in ("technique", across, "seed")):
        values = [row[name] for row in group]
        found |= {name: round(mean(values), 3), f"{name}_least": min(values), f"{name}_most": max(values)}
    return found


def find_reductions(rows: Rows, across: str, technique: str, against: str = "without") -> Rows:
    """Per size and seed, by how many percent a technique stays below another in what the paper's Figure 9 lists."""
    found: Rows = []
    others = {(row[across], row["seed"]): row for row in rows if row["technique"] == against}
    for mine in (row for row in rows if row["technique"] == technique):
        other = others[mine[across], mine["seed"]]
        less = {name: _reduce(mine[measure], other[measure]) for name, measure in _REDUCED.items()}
        found.append({"technique": technique, across: mine[across], "seed": mine["seed"], **less})
    return found


def _reduce(mine: float, other: float) -> float:
    return round(100 * (1 - mine / other), 1) if other else 0.0


def _compare(rows: Rows) -> Figure:
    """Figure 9: our reductions beside the paper's."""
    techniques = ("feedback", "definition4")
    ours = summarise_seeds([row for each in techniques for row in find_reductions(rows, "sensors", each)], "sensors")
    sizes = [row["sensors"] for row in ours if row["technique"] == "feedback" and row["sensors"] in _PAPER]
    paper = [
        {"technique": "paper", "sensors": size, "seed": 1, **dict(zip(_REDUCED, map(float, _PAPER[size]), strict=True))}
        for size in sizes
    ]
    panels = tuple(
        Panel(name, f"{name}, % less with feedback", low=f"{name}_least", high=f"{name}_most") for name in _REDUCED
    )
    table = pa.Table.from_pylist(ours + summarise_seeds(paper, "sensors"))
    compared = Figure("figure9", "Figure 9: what relevance feedback saves", table, "sensors", panels, ())
    judged = [size for size in sizes if size in _JUDGED] or sizes[-1:]
    return compared.with_verdicts([_judge_reduction(compared, size, name) for size in judged for name in _REDUCED])


def _judge_reduction(figure: Figure, size: float, name: str) -> Verdict:
    """A saving should be as large as the paper's; what is lost of the width, no larger."""
    mine, paper = (_find_at(figure, technique, name, size) for technique in ("feedback", "paper"))
    least, most = (_find_at(figure, "feedback", f"{name}_{end}", size) for end in ("least", "most"))
    if name == "width":
        outcome = Outcome.HOLDS if mine <= paper else Outcome.FAILS
    else:
        outcome = Outcome.HOLDS if mine >= paper else Outcome.DIRECTION if mine > 0 else Outcome.FAILS
    remark = "" if outcome is Outcome.HOLDS else _CROWDED if name == "drops" else _ALIKE
    verb = "at most so much narrower" if name == "width" else f"less {name}"
    spread = f" ({-least:+.0f} to {-most:+.0f})" if least != most else ""
    ours = f"{-mine:+.1f} %{spread}"
    return Verdict(f"{verb} with feedback, {size:,.0f} sensors", f"-{paper:g} %", ours, outcome, remark)


def _find_at(figure: Figure, technique: str, measure: str, size: float) -> float:
    return dict(zip(*figure.line(technique, measure), strict=True))[size]


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
        f"{course.seeds} seeds: a line is their mean, a band goes from the least to the most.",
        f"{course.seconds} s simulated, the first 60 not counted; sensors of one tuple per second, spread evenly over "
        f"a square, in clusters by HEED with a range of {REACH:.0%} of its side; a window of a minute; the paper's "
        "law with one value per rank, as Figure 6.",
        f"An operation (a message, a look into a table, a tuple listed) takes a head {operation_us:g} µs. At the "
        f"largest size MJoin then needs {OVERLOAD:g} times the time there is, as in Figure 5. Buffers hold "
        f"{BUFFER_SIZE:,} tuples in all; a full one drops tuples, and refuses probes, whose tuples have no answer.",
        "An answer is a tuple with a list of all that it joins with. Bytes are those of all messages, results carried "
        "from head to head included. Definition 4 to the letter probes one head on average.",
    ]
