"""Figure 18: window-join queries over two streams."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from itertools import islice
from typing import Protocol

import pyarrow as pa

from skerry.experiments.duality.claims import find_ratios, judge_ratio
from skerry.experiments.duality.techniques import TIME, Timed
from skerry.experiments.duality.timing import Tell, check_agreement, measure_time
from skerry.experiments.duality.workload import make_join_queries, make_points, quarter_codes
from skerry.experiments.figure import Figure, Outcome, Verdict
from skerry.model.arrays import Int32s, Int64s
from skerry.rivals.window_joins.box_index_join import IndexedWindowJoin
from skerry.rivals.window_joins.ibs_js import SharedWindowJoin
from skerry.rivals.window_joins.join_queries import Shape
from skerry.rivals.window_joins.sj_join import SpatialWindowJoin

__all__ = ["PAPER", "measure_by_window"]


PAPER = {100: 2.6, 1_000: 3.9, 10_000: 6.9}
"""How many times faster than IBS-JS the paper's SJ-Join is, at the most, by the size of windows."""
_ATTRIBUTES = 2
"""Of each stream; the first is the join attribute."""
_PAIRS = 20_000
"""So many pairs of elements are looked at, if two arrivals do not bring more."""
_RIVALS = ("SJ-Join", "IBS-JS")
_BITS = "a box is tested against all pairs of a cluster at once, as bits"


class WindowJoin(Protocol):
    """A technique at work."""

    def enter(self, side: int, point: Int64s, time: int) -> None:
        """Take an element in and ask nothing."""

    def arrive(self, side: int, point: Int64s, time: int) -> tuple[Int64s, Int32s]:
        """Take an element in; pairs of an element of the other window and a query that is true for both."""


def measure_by_window(counts: Sequence[int], window: int, repeats: int, before: Figure | None, tell: Tell) -> Figure:
    """Figure 18 for windows of one size; ``before`` is the figure of the next smaller one."""
    rows = []
    for count in counts:
        tell(f"join queries, windows of {window}, {count} queries")
        rows += [{**asdict(found), "queries": count} for found in _measure_joins(count, window, repeats)]
    name, title = f"duality_figure18_{window}", f"Figure 18: join queries, windows of {window:,}"
    figure = Figure(name, title, pa.Table.from_pylist(rows), "queries", (TIME,), ())
    return figure.with_verdicts(_verdicts(figure, window, before), _notes(figure, window, repeats))


def _measure_joins(count: int, window: int, repeats: int) -> list[Timed]:
    shape = Shape(_ATTRIBUTES, _ATTRIBUTES, (0, 0), (window, window))
    queries, cluster = make_join_queries(count, _ATTRIBUTES, window), _cluster_size(window)
    found = [
        _measure_join("SJ-Join", SpatialWindowJoin(queries, shape, quarter_codes(), cluster), window, repeats, cluster),
        _measure_join("IBS-JS", SharedWindowJoin(queries, shape), window, repeats),
        _measure_join("shipped", IndexedWindowJoin(queries, shape), window, repeats),
    ]
    check_agreement({each.technique: each.pairs for each in found})
    return found


def _cluster_size(window: int) -> int:
    """How many pairs a cluster has: settled in trial runs."""
    return min(window, 400)


def _measure_join(technique: str, join: WindowJoin, window: int, repeats: int, cluster: int = 1) -> Timed:
    """The time of an arrival when both windows are full. An element of each stream comes at each step of time."""
    steps = max(1, _PAIRS // (2 * window))
    count = window + steps * (repeats + 1)
    elements = [make_points(count, _ATTRIBUTES, seed=seed) for seed in (4, 5)]
    arrivals = ((side, elements[side][:, step], step) for step in range(count) for side in range(2))
    for arrival in islice(arrivals, 2 * window):
        join.enter(*arrival)

    def run() -> int:
        return sum(join.arrive(*arrival)[0].size for arrival in islice(arrivals, 2 * steps))

    run()
    cost, pairs = measure_time(run, 2 * steps, repeats)
    return Timed(technique, cost, pairs, 2 * steps, cluster)


def _verdicts(figure: Figure, window: int, before: Figure | None) -> list[Verdict]:
    ahead = find_ratios(figure, _RIVALS)
    verdicts = []
    if window in PAPER:
        found = judge_ratio(
            max(ahead), PAPER[window], f"SJ-Join ahead of IBS-JS with windows of {window:,}, at the most", _BITS
        )
        verdicts.append(replace(found, ours=f"{', '.join(f'{ratio:.3g}' for ratio in ahead)} times"))
    if before is not None:
        verdicts.append(_judge_widening(max(find_ratios(before, _RIVALS)), max(ahead)))
    return verdicts


def _judge_widening(before: float, after: float) -> Verdict:
    outcome = Outcome.HOLDS if after > before else Outcome.FAILS
    return Verdict("by more than with smaller windows", "more", f"{after:.3g} times after {before:.3g}", outcome)


def _notes(figure: Figure, window: int, repeats: int) -> list[str]:
    ahead = ", ".join(f"{ratio:.3g}" for ratio in find_ratios(figure, ("shipped", "IBS-JS")))
    return [
        f"Two streams of {_ATTRIBUTES} attributes, one of them joined on by <, <=, =, >= or >, with conditions on all. "
        f"Both windows are full; processor time of one thread, the best of {repeats}.",
        f"Conditions are cut into four pieces. Clusters of {_cluster_size(window)} pairs, settled in trial runs.",
        f"The index that ships, behind the same shared join as IBS-JS, is {ahead} times as fast as that.",
    ]
