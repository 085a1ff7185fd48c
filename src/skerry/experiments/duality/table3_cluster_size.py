"""Table 3: how many elements a cluster should have, and what an element costs then."""

from collections.abc import Sequence
from dataclasses import asdict, replace

import pyarrow as pa

from skerry.experiments.duality.claims import MEASURE, judge_falling, judge_rising
from skerry.experiments.duality.techniques import Effort, Techniques, Timed, measure_technique, rehearse
from skerry.experiments.duality.timing import Tell
from skerry.experiments.duality.workload import Queries, make_points, make_queries
from skerry.experiments.figure import Figure, Outcome, Panel, Verdict

__all__ = ["find_best_clusters", "measure_by_batch", "measure_by_cluster"]

QUERIES = 10_000
_ATTRIBUTES = (4, 8)
_FLAT = 0.1
"""The paper's time moves by so much from half of the best cluster to three times of it."""
_PANELS = (Panel("cluster", "best cluster, elements"), Panel(MEASURE, "time an element, µs"))
_CURVE = (Panel(MEASURE, "time an element, µs", logarithmic=True),)
_NEARLY_FLAT = "neighbouring sizes differ by less than the noise of a run, so that which one is best is partly chance"


def measure_by_batch(batches: Sequence[int], clusters: Sequence[int], effort: Effort, tell: Tell) -> Figure:
    """Table 3."""
    rows = []
    for attributes in _ATTRIBUTES:
        curves = _measure_curves(attributes, batches, clusters, effort, tell)
        for batch, (batched, shipped) in curves.items():
            best = min(batched, key=lambda found: found.microseconds)
            rows.append({**asdict(best), "technique": _label(attributes), "batch": batch})
            rows.append(
                {**asdict(shipped), "technique": f"shipped, {_label(attributes)}", "cluster": None, "batch": batch}
            )
    table = pa.Table.from_pylist(rows)
    figure = Figure("duality_table3", "Table 3: best cluster by batch", table, "batch", _PANELS, ())
    verdicts = [
        judged
        for attributes in _ATTRIBUTES
        for judged in (
            judge_rising(
                figure,
                _label(attributes),
                "cluster",
                f"{_label(attributes)}: larger batch, larger cluster",
                _NEARLY_FLAT,
            ),
            judge_falling(
                figure, _label(attributes), f"{_label(attributes)}: larger batch, less time an element", _NEARLY_FLAT
            ),
        )
    ]
    return figure.with_verdicts(verdicts, _notes(clusters, effort))


def measure_by_cluster(batch: int, clusters: Sequence[int], effort: Effort, tell: Tell) -> Figure:
    """What the paper says of the times around the best cluster, drawn."""
    rows = []
    for attributes in _ATTRIBUTES:
        ((batched, shipped),) = _measure_curves(attributes, (batch,), clusters, effort, tell).values()
        rows += [{**asdict(found), "technique": _label(attributes)} for found in batched]
        rows += [
            {**asdict(shipped), "technique": f"shipped, {_label(attributes)}", "cluster": cluster}
            for cluster in (clusters[0], clusters[-1])
        ]
    title = f"Time by the size of a cluster, batches of {batch:,}"
    figure = Figure("duality_clusters", title, pa.Table.from_pylist(rows), "cluster", _CURVE, ())
    return figure.with_verdicts(
        [_judge_flat(figure, _label(attributes)) for attributes in _ATTRIBUTES], _notes(clusters, effort)
    )


def find_best_clusters(table: Figure) -> dict[int, int]:
    """By number of attributes, the best size of a cluster for the largest batch."""
    return {attributes: int(table.at_largest(_label(attributes), "cluster")) for attributes in _ATTRIBUTES}


def _label(attributes: int) -> str:
    return f"{attributes} attributes"


def _measure_curves(
    attributes: int, batches: Sequence[int], clusters: Sequence[int], effort: Effort, tell: Tell
) -> dict[int, tuple[list[Timed], Timed]]:
    """By batch: SJ-Batch with each size of clusters, and the index that ships. Runs are so short that many are made."""
    rehearse(attributes)
    techniques, often = Techniques.over(make_queries(Queries(QUERIES, attributes, attributes))), _repeat_often(effort)
    found = {}
    for batch in batches:
        tell(f"clusters, {_label(attributes)}, batches of {batch}")
        elements = make_points(batch, attributes)
        batched = [measure_technique("SJ-Batch", techniques.batched(each), elements, often, each) for each in clusters]
        found[batch] = batched, measure_technique("shipped", techniques.shipped, elements, often)
    return found


def _repeat_often(effort: Effort) -> Effort:
    return replace(effort, repeats=3 * effort.repeats)


def _judge_flat(figure: Figure, technique: str) -> Verdict:
    """Whether the time hardly moves from half of the best cluster to three times of it."""
    sizes, times = figure.line(technique, MEASURE)
    best = sizes[times.index(min(times))]
    around = [time for size, time in zip(sizes, times, strict=True) if best / 2 <= size <= 3 * best]
    spread = max(around) / min(around) - 1
    outcome = Outcome.HOLDS if spread <= _FLAT else Outcome.DIRECTION if spread < 1 else Outcome.FAILS
    ours = f"within {100 * spread:.0f} %, best at {best:g}"
    claim = f"{technique}: the time hardly moves from half of the best cluster to three times of it"
    return Verdict(claim, f"within {100 * _FLAT:.0f} %", ours, outcome)


def _notes(clusters: Sequence[int], effort: Effort) -> list[str]:
    return [
        f"{QUERIES:,} queries with conditions on all attributes. Clusters of {', '.join(map(str, clusters))} elements. "
        f"Processor time of one thread, the best of {_repeat_often(effort).repeats}.",
        "The index that ships has no clusters of elements: its line is there to compare the times.",
    ]
