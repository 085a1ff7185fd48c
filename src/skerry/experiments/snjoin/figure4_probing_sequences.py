"""Figure 4: what probing sequences cost, as the paper estimates it and as it is.

A complete join: a sequence ends at the first table without a match. Costs are counted, not timed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from skerry.experiments.figure import Figure, Outcome, Panel, Verdict
from skerry.experiments.snjoin.figure5_complete_join import load_of
from skerry.experiments.snjoin.measure_sizes import Tell
from skerry.experiments.snjoin.workload import WINDOW_US, Load
from skerry.model.arrays import Float64s, Int64s

__all__ = ["SequenceCourse", "count_probes", "estimate_probes", "measure_probing_sequences"]

_CLUSTERS = 4
_SAMPLE = 5_000
_PANELS = (
    Panel("probes", "tables probed per tuple"),
    Panel("estimated_probes", "tables probed per tuple, as estimated"),
)
_SKEWED = (
    "the estimate takes the mean selectivity for that of every tuple, and tables as independent; by Zipf's law a value "
    "that is frequent in one stream is so in all"
)

_EARLY = (
    "a cluster of several streams hardly ever has no match, so the sequence goes on; MJoin's first table, the most "
    "selective, mostly ends it"
)


@dataclass(frozen=True)
class SequenceCourse:
    """How many streams, and for how many seconds."""

    sizes: tuple[int, ...]
    seconds: int


def measure_probing_sequences(course: SequenceCourse, tell: Tell) -> Figure:
    """Count what MJoin in three orders, SNJoin and SNJoin* probe."""
    rows = []
    for size in course.sizes:
        tell(f"probing sequences, {size} streams")
        rows += _measure(load_of(course.seconds, size), size)
    figure = Figure("figure4", "Figure 4: probing sequences", pa.Table.from_pylist(rows), "streams", _PANELS, ())
    return figure.with_verdicts(_judge(figure), _notes(course))


def count_probes(matches: Int64s) -> Float64s:
    """Per tuple, how many tables are probed in the order of the columns: up to the first without a match, with it.

    >>> count_probes(np.array([[3, 0, 2], [1, 1, 1], [0, 0, 0]])).tolist()
    [2.0, 3.0, 1.0]
    """
    reached = np.cumprod(matches[:, :-1] > 0, axis=1).sum(axis=1)
    return 1.0 + reached


def estimate_probes(selectivities: Float64s, sizes: Float64s) -> float:
    """The paper's estimate. Its last product, beyond the last table, is left out: it would be a probe of nothing.

    >>> estimate_probes(np.array([0.0, 0.5]), np.array([10.0, 10.0]))
    1.0
    """
    hit = 1.0 - (1.0 - selectivities) ** sizes
    return float(1.0 + np.cumprod(hit[:-1]).sum())


def _measure(load: Load, streams: int) -> list[dict[str, object]]:
    """A row per technique. Tuples of stream 0 probe the others, which are as good as any."""
    chosen = np.flatnonzero((load.sensors == 0) & (load.times >= WINDOW_US))[:_SAMPLE]
    matches = np.stack([_count_matches(load, stream, chosen) for stream in range(1, streams)], axis=1)
    tables = np.array([_count_live(load, stream) for stream in range(1, streams)])
    ascending = np.argsort(matches.mean(axis=0) / tables, kind="stable")
    sequences = {"mjoin": ascending, "mjoin as given": np.arange(streams - 1), "mjoin descending": ascending[::-1]}
    rows = [_row(name, streams, matches[:, order], tables[order]) for name, order in sequences.items()]
    clusters = [part for part in np.array_split(np.arange(streams - 1), _CLUSTERS) if part.size][1:]
    by_cluster = np.stack([matches[:, part].sum(axis=1) for part in clusters], axis=1)
    sizes = np.array([tables[part].sum() for part in clusters])
    order = np.argsort(by_cluster.mean(axis=0) / sizes, kind="stable")
    distributed = _row("snjoin*", streams, by_cluster[:, order], sizes[order])
    one = {"technique": "snjoin", "streams": streams, "probes": 1.0, "estimated_probes": 1.0}
    return [*rows, one, _with_own(distributed)]


def _with_own(row: Mapping[str, object]) -> dict[str, object]:
    """With the table of the tuple's own cluster."""
    more = {name: float(str(row[name])) + 1.0 for name in ("probes", "estimated_probes")}
    return {**row, **more}


def _row(technique: str, streams: int, matches: Int64s, tables: Float64s) -> dict[str, object]:
    estimated = estimate_probes(matches.mean(axis=0) / tables, tables)
    probes = float(count_probes(matches).mean())
    return {
        "technique": technique,
        "streams": streams,
        "probes": round(probes, 3),
        "estimated_probes": round(estimated, 3),
    }


def _count_matches(load: Load, stream: int, chosen: Int64s) -> Int64s:
    """Per chosen tuple, how many of a stream share its value within the window before it."""
    mine, span = load.sensors == stream, 2 * load.end_us + WINDOW_US
    codes = np.sort(load.keys[mine] * span + load.times[mine])
    wanted = load.keys[chosen] * span + load.times[chosen]
    found: Int64s = np.searchsorted(codes, wanted) - np.searchsorted(codes, wanted - WINDOW_US)
    return found


def _count_live(load: Load, stream: int) -> float:
    """How many tuples of a stream are in a window, on average."""
    return float((load.sensors == stream).sum()) * WINDOW_US / load.end_us


def _judge(figure: Figure) -> list[Verdict]:
    probes = {technique: figure.at_largest(technique, "probes") for technique in figure.techniques()}
    orders = [probes[name] for name in ("mjoin", "mjoin as given", "mjoin descending")]
    return [
        _judge_truth("ascending selectivity probes the fewest tables", orders == sorted(orders), orders, _SKEWED),
        _judge_truth(
            "SNJoin* probes fewer tables than MJoin, and more than SNJoin",
            probes["snjoin"] <= probes["snjoin*"] < probes["mjoin"],
            [probes[name] for name in ("snjoin", "snjoin*", "mjoin")],
            _EARLY,
        ),
        *[_judge_estimate(figure, technique) for technique in ("mjoin", "snjoin*")],
    ]


def _judge_truth(claim: str, holds: bool, ours: Sequence[float], remark: str) -> Verdict:
    outcome = Outcome.HOLDS if holds else Outcome.FAILS
    return Verdict(claim, "so", ", ".join(f"{value:.3g}" for value in ours), outcome, "" if holds else remark)


def _judge_estimate(figure: Figure, technique: str) -> Verdict:
    probes, estimated = (figure.at_largest(technique, measure) for measure in ("probes", "estimated_probes"))
    outcome = Outcome.HOLDS if abs(probes - estimated) <= 0.1 * probes else Outcome.FAILS
    claim = f"the estimate of {technique}'s probes is right (within 10 %)"
    return Verdict(claim, f"{estimated:.3g}", f"{probes:.3g}", outcome, "" if outcome is Outcome.HOLDS else _SKEWED)


def _notes(course: SequenceCourse) -> list[str]:
    return [
        f"{course.seconds} s of the load of Figure 5; up to {_SAMPLE:,} tuples of one stream, each with a full window "
        f"behind it; {_CLUSTERS} clusters.",
        "A table is probed if all before it had a match. MJoin's order is that of ascending mean selectivity.",
    ]
