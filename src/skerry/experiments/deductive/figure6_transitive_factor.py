"""Figure 6: messages per mote of two ways to join, by how many hops an edge may span (the transitive factor k)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean

import pyarrow as pa

from skerry.experiments.deductive.claims import judge_true
from skerry.experiments.deductive.grid_runs import GridWorkload
from skerry.experiments.deductive.programs import write_program
from skerry.experiments.figure import Figure, Panel, Verdict
from skerry.network.message import Kind
from skerry.network.radio_settings import RadioSettings
from skerry.network.rules.run import simulate

__all__ = ["SpanRun", "draw_transitive_factor", "measure_transitive_factor"]

_STRATEGIES = ("broadcast", "perpendicular")
_PANELS = (
    Panel("messages_per_mote", "messages per mote", logarithmic=True),
    Panel("joining_per_mote", "the same without results"),
)
_CROSSING = 4
"""The paper's: up to this k broadcast is cheaper, beyond it perpendicular."""
_RESULTS = "storing and joining alone, without results that are sent to their homes, are in the second panel"
_NOTES = (
    "logicJ on a 7 x 7 grid by stage, root in the middle, no loss; an edge joins motes up to k hops apart, while links "
    "stay as they are. A broadcast within k hops is sent again by every mote nearer than k.",
    "A path that a shorter one blocks, as far as is known where both meet, is not sent.",
    "The order of arrival, which is the paper's, is not measured here.",
)


@dataclass(frozen=True)
class SpanRun:
    """What one run came to."""

    technique: str
    transitive_factor: int
    messages: int
    results: int
    motes: int


def measure_transitive_factor(side: int, factors: Sequence[int], seeds: int) -> Iterator[SpanRun]:
    """Both ways to join, at every factor, seed after seed."""
    workload = GridWorkload(side)
    for strategy in _STRATEGIES:
        for factor in factors:
            program = write_program("logicJ", workload.root, 2 * (side - 1), factor)
            for seed in range(seeds):
                run = simulate(
                    program,
                    None,
                    workload.topology,
                    strategy=strategy,
                    radio=RadioSettings(),
                    seed=seed,
                    order="stage",
                    expected={"H": []},
                )
                results = run.tally.by_kind[Kind.RESULT]
                yield SpanRun(strategy, factor, run.tally.total, results, side**2)


def draw_transitive_factor(runs: Sequence[SpanRun]) -> Figure:
    """One figure, with and without the messages that carry results."""
    factors = sorted({run.transitive_factor for run in runs})
    rows = [_sum_up(runs, strategy, factor) for strategy in _STRATEGIES for factor in factors]
    title = "Figure 6: messages per mote, by the transitive factor k"
    table, across = pa.Table.from_pylist(rows), "transitive_factor"
    figure = Figure("deductive_figure6", title, table, across, _PANELS, (), _NOTES)
    return figure.with_verdicts(list(_judge(figure, factors)))


def _sum_up(runs: Sequence[SpanRun], technique: str, factor: int) -> dict[str, str | int | float]:
    own = [run for run in runs if (run.technique, run.transitive_factor) == (technique, factor)]
    return {
        "technique": technique,
        "transitive_factor": factor,
        "runs": len(own),
        "messages_per_mote": round(fmean(run.messages / run.motes for run in own), 4),
        "joining_per_mote": round(fmean((run.messages - run.results) / run.motes for run in own), 4),
    }


def _judge(figure: Figure, factors: Sequence[int]) -> Iterator[Verdict]:
    broadcast, perpendicular = (figure.line(name, "messages_per_mote")[1] for name in _STRATEGIES)
    wins = [factor for factor, one, other in zip(factors, broadcast, perpendicular, strict=True) if other < one]
    near = [factor for factor in factors if factor > _CROSSING]
    last = f"at k = {factors[-1]}: broadcast {broadcast[-1]:.1f}, perpendicular {perpendicular[-1]:.1f} per mote"
    ours = f"cheaper at k = {', '.join(map(str, wins)) or 'none'}; {last}"
    yield judge_true("perpendicular sends less than broadcast for k > 4 alone", "k > 4", ours, wins == near, _RESULTS)
    rise = all(low < high for line in (broadcast, perpendicular) for low, high in pairwise(line))
    yield judge_true("both send more with a larger k", "rise", last, rise)
    growth = [line[-1] / line[0] for line in (broadcast, perpendicular)]
    ours = f"from k = {factors[0]} to {factors[-1]}: broadcast {growth[0]:.1f}, perpendicular {growth[1]:.1f} times"
    yield judge_true("perpendicular rises at a lower rate", "lower", ours, growth[1] < growth[0], _RESULTS)
