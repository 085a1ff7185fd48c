"""Figures 15 to 17: selection queries."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace

import pyarrow as pa

from skerry.experiments.duality.claims import MEASURE, falling, faster, growing, judged, ranked, ratios, rising, steady
from skerry.experiments.duality.techniques import TIME, Effort, Techniques, rehearse, times
from skerry.experiments.duality.timing import Tell
from skerry.experiments.duality.workload import Queries, points, queries
from skerry.experiments.figure import Figure, Verdict
from skerry.model.arrays import Int64s

__all__ = ["Ends", "by_predicates", "by_queries", "by_skew"]

Location = tuple[float, Techniques, Int64s]
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


def by_queries(
    counts: Sequence[int], attributes: int, cluster: int, paper: Mapping[str, Ends], effort: Effort, tell: Tell
) -> Figure:
    """Figure 15; ``paper`` says how many times faster than IBS techniques are, at the first and the last place."""
    elements = points(effort.batch, attributes)
    name = f"duality_figure15_{attributes}"
    title = f"Figure 15: by queries, {attributes} attributes"
    places = ((count, _over(Queries(count, attributes, attributes)), elements) for count in counts)
    figure = _figure(name, title, "queries", places, (cluster,), effort, tell)
    verdicts = [
        ranked(figure, _ORDER, "SJ-Batch takes least, then SJ-Immediate, IBS most"),
        *(
            judged(ratio, times, f"{technique} ahead of IBS at {count:,} queries", remark)
            for technique, told in paper.items()
            for count, ratio, times, remark in zip(
                (counts[0], counts[-1]), _ends(ratios(figure, (technique, "IBS"))), told, ("", _LEVEL), strict=True
            )
        ),
        growing(figure, ("SJ-Batch", "IBS"), "SJ-Batch is ahead of IBS by more with more queries", _LEVEL),
        _shipped(figure),
    ]
    return figure.with_verdicts(verdicts, [*_notes(effort), f"Clusters of {cluster} elements, the best of Table 3."])


def by_predicates(bounded: Sequence[int], count: int, cluster: int, effort: Effort, tell: Tell) -> Figure:
    """Figure 16: conditions on so many of eight attributes."""
    elements, attributes = points(effort.batch, 8), 8
    places = ((each / attributes, _over(Queries(count, attributes, each)), elements) for each in bounded)
    title = "Figure 16: by share of attributes bounded"
    figure = _figure("duality_figure16", title, "share", places, (cluster,), effort, tell)
    verdicts = [
        rising(figure, "IBS", MEASURE, "IBS takes longer with more conditions", _FEW_BOUNDS),
        falling(figure, "SJ-Batch", "SJ-Batch takes less with more conditions"),
        falling(figure, "SJ-Immediate", "SJ-Immediate takes less with more conditions"),
        _shipped(figure),
    ]
    return figure.with_verdicts(verdicts, [*_notes(effort), f"{count:,} queries over eight attributes."])


def by_skew(skews: Sequence[float], count: int, clusters: Sequence[int], effort: Effort, tell: Tell) -> Figure:
    """Figure 17: elements crowded into a tenth of each of four attributes."""
    techniques = _over(Queries(count, 4, 4))
    places = ((skew, techniques, points(effort.batch, 4, skew)) for skew in skews)
    title = "Figure 17: by skew of the data"
    figure = _figure("duality_figure17", title, "skew", places, clusters, effort, tell)
    verdicts = [
        _sped_up(figure, 1.7, "SJ-Batch is faster on skewed data than on uniform"),
        rising(figure, "SJ-Batch", "cluster", "its best cluster grows with the skew", _CHANCE),
        steady(figure, ("SJ-Immediate", "IBS"), "SJ-Immediate and IBS do not depend on the skew", _CROWD),
        _shipped(figure),
    ]
    sizes = ", ".join(map(str, clusters))
    note = f"{count:,} queries over four attributes. SJ-Batch has, at each place, the best of clusters of {sizes}."
    return figure.with_verdicts(verdicts, [*_notes(effort), note])


def _ends(line: Sequence[float]) -> Ends:
    return line[0], line[-1]


def _over(like: Queries) -> Techniques:
    return Techniques.over(queries(like))


def _figure(
    name: str, title: str, across: str, places: Iterable[Location], clusters: Sequence[int], effort: Effort, tell: Tell
) -> Figure:
    """All techniques at all places."""
    rows = []
    for place, techniques, elements in places:
        tell(f"{name}, {across} {place:g}")
        rehearse(elements.shape[0])
        rows += [{**asdict(found), across: place} for found in times(techniques, elements, clusters, effort)]
    return Figure(name, title, pa.Table.from_pylist(rows), across, (TIME,), ())


def _sped_up(figure: Figure, paper: float, claim: str, remark: str = "") -> Verdict:
    """Whether SJ-Batch is so much faster at its best place than at the first."""
    line = figure.line("SJ-Batch", MEASURE)[1]
    return judged(line[0] / min(line), paper, claim, remark)


def _shipped(figure: Figure) -> Verdict:
    """What we aim at, beyond the paper."""
    ahead, claim = ratios(figure, ("shipped", "SJ-Batch")), "the index that ships ahead of IBS, at the last place"
    verdict = faster(figure, ("shipped", "IBS"), _AIM, claim, _SELECTIVE)
    ours = f"{verdict.ours}; {min(ahead):.2g} to {max(ahead):.2g} times SJ-Batch"
    return replace(verdict, paper=f"not in the paper; {_AIM} times is our aim", ours=ours)


def _notes(effort: Effort) -> list[str]:
    return [
        f"Processor time of one thread, the best of {effort.repeats}; for SJ-Batch with all that a batch of "
        f"{effort.batch:,} elements costs, for SJ-Immediate and IBS over {effort.few:,} of them. Pairs are written, "
        "counted, and equal.",
    ]
