"""Figures 15 to 17: selection queries."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace

import pyarrow as pa

from skerry.experiments.duality.claims import (
    MEASURE,
    find_ratios,
    judge_falling,
    judge_faster,
    judge_growing,
    judge_ranking,
    judge_ratio,
    judge_rising,
    judge_steady,
)
from skerry.experiments.duality.techniques import TIME, Effort, Techniques, measure_techniques, rehearse
from skerry.experiments.duality.timing import Tell
from skerry.experiments.duality.workload import Queries, make_points, make_queries
from skerry.experiments.figure import Figure, Verdict
from skerry.model.arrays import Int64s

__all__ = ["Ends", "measure_by_predicates", "measure_by_queries", "measure_by_skew"]

Setting = tuple[float, Techniques, Int64s]
"""Where on the figure, the techniques with their queries, and the elements that they meet."""
Ends = tuple[float, float]

_ORDER = ("SJ-Batch", "SJ-Immediate", "IBS")
_AIM = 100
"""How many times faster than IBS the index that ships is to be."""
_SELECTIVE = (
    "conditions are as wide as the domain here; where they are selective it is 95 to 157 times (docs/benchmarks.md)"
)
_LEVEL = (
    "here all grow in proportion to the number of queries, for conditions are so wide that a third of all overlap a "
    "cluster of 400 elements; the paper does not say why its IBS grows faster"
)
_FEW_BOUNDS = "fewer conditions are true more often, and their pairs are written by all"
_CROWD = (
    "an element of the crowd meets fewer pages of the grid file (261, others 355, at 100,000 queries); and all of the "
    "crowd meet the same, which stay in the processor's cache"
)
_CHANCE = "the times of neighbouring sizes differ by less than the noise of a run"


def measure_by_queries(
    counts: Sequence[int], attributes: int, cluster: int, paper: Mapping[str, Ends], effort: Effort, tell: Tell
) -> Figure:
    """Figure 15; ``paper`` says how many times faster than IBS techniques are, at the first and the last point."""
    elements = make_points(effort.batch, attributes)
    name = f"duality_figure15_{attributes}"
    title = f"Figure 15: by queries, {attributes} attributes"
    settings = ((count, _build_techniques(Queries(count, attributes, attributes)), elements) for count in counts)
    figure = _measure_figure(name, title, "queries", settings, (cluster,), effort, tell)
    verdicts = [
        judge_ranking(figure, _ORDER, "SJ-Batch takes least, then SJ-Immediate, IBS most"),
        *(
            judge_ratio(ratio, times, f"{technique} ahead of IBS at {count:,} queries", remark)
            for technique, papers_ratios in paper.items()
            for count, ratio, times, remark in zip(
                (counts[0], counts[-1]),
                _first_and_last(find_ratios(figure, (technique, "IBS"))),
                papers_ratios,
                ("", _LEVEL),
                strict=True,
            )
        ),
        judge_growing(figure, ("SJ-Batch", "IBS"), "SJ-Batch is ahead of IBS by more with more queries", _LEVEL),
        _judge_shipped(figure),
    ]
    return figure.with_verdicts(verdicts, [*_notes(effort), f"Clusters of {cluster} elements, the best of Table 3."])


def measure_by_predicates(bounded: Sequence[int], count: int, cluster: int, effort: Effort, tell: Tell) -> Figure:
    """Figure 16: conditions on so many of eight attributes."""
    elements, attributes = make_points(effort.batch, 8), 8
    settings = ((each / attributes, _build_techniques(Queries(count, attributes, each)), elements) for each in bounded)
    title = "Figure 16: by share of attributes bounded"
    figure = _measure_figure("duality_figure16", title, "share", settings, (cluster,), effort, tell)
    verdicts = [
        judge_rising(figure, "IBS", MEASURE, "IBS takes longer with more conditions", _FEW_BOUNDS),
        judge_falling(figure, "SJ-Batch", "SJ-Batch takes less with more conditions"),
        judge_falling(figure, "SJ-Immediate", "SJ-Immediate takes less with more conditions"),
        _judge_shipped(figure),
    ]
    return figure.with_verdicts(verdicts, [*_notes(effort), f"{count:,} queries over eight attributes."])


def measure_by_skew(skews: Sequence[float], count: int, clusters: Sequence[int], effort: Effort, tell: Tell) -> Figure:
    """Figure 17: elements crowded into a tenth of each of four attributes."""
    techniques = _build_techniques(Queries(count, 4, 4))
    settings = ((skew, techniques, make_points(effort.batch, 4, skew)) for skew in skews)
    title = "Figure 17: by skew of the data"
    figure = _measure_figure("duality_figure17", title, "skew", settings, clusters, effort, tell)
    verdicts = [
        _judge_speed_up(figure, 1.7, "SJ-Batch is faster on skewed data than on uniform"),
        judge_rising(figure, "SJ-Batch", "cluster", "its best cluster grows with the skew", _CHANCE),
        judge_steady(figure, ("SJ-Immediate", "IBS"), "SJ-Immediate and IBS do not depend on the skew", _CROWD),
        _judge_shipped(figure),
    ]
    sizes = ", ".join(map(str, clusters))
    note = f"{count:,} queries over four attributes. SJ-Batch has, at each place, the best of clusters of {sizes}."
    return figure.with_verdicts(verdicts, [*_notes(effort), note])


def _first_and_last(line: Sequence[float]) -> Ends:
    return line[0], line[-1]


def _build_techniques(like: Queries) -> Techniques:
    return Techniques.over(make_queries(like))


def _measure_figure(
    name: str, title: str, across: str, settings: Iterable[Setting], clusters: Sequence[int], effort: Effort, tell: Tell
) -> Figure:
    """All techniques at all points."""
    rows = []
    for value, techniques, elements in settings:
        tell(f"{name}, {across} {value:g}")
        rehearse(elements.shape[0])
        rows += [
            {**asdict(found), across: value} for found in measure_techniques(techniques, elements, clusters, effort)
        ]
    return Figure(name, title, pa.Table.from_pylist(rows), across, (TIME,), ())


def _judge_speed_up(figure: Figure, paper: float, claim: str, remark: str = "") -> Verdict:
    """Whether SJ-Batch is so much faster at its best point than at the first."""
    line = figure.line("SJ-Batch", MEASURE)[1]
    return judge_ratio(line[0] / min(line), paper, claim, remark)


def _judge_shipped(figure: Figure) -> Verdict:
    """What we aim at, beyond the paper."""
    ahead, claim = find_ratios(figure, ("shipped", "SJ-Batch")), "the index that ships ahead of IBS, at the last place"
    verdict = judge_faster(figure, ("shipped", "IBS"), _AIM, claim, _SELECTIVE)
    ours = f"{verdict.ours}; {min(ahead):.2g} to {max(ahead):.2g} times SJ-Batch"
    return replace(verdict, paper=f"not in the paper; {_AIM} times is our aim", ours=ours)


def _notes(effort: Effort) -> list[str]:
    return [
        f"Processor time of one thread, the best of {effort.repeats}; for SJ-Batch with all that a batch of "
        f"{effort.batch:,} elements costs, for SJ-Immediate and IBS over {effort.few:,} of them. Pairs are written, "
        "counted, and equal.",
    ]
