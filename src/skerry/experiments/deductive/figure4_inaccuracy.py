"""Figure 4: the share of shortest paths that is missed, by the probability that a receiver misses a message."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from skerry.experiments.deductive.claims import judge_true, list_numbers
from skerry.experiments.deductive.grid_runs import PROCEDURAL, GridRun
from skerry.experiments.deductive.programs import PROGRAMS
from skerry.experiments.deductive.tabulate import mean_of, tabulate
from skerry.experiments.figure import Figure, Panel, Verdict

__all__ = ["draw_inaccuracy"]

_PANELS = (
    Panel("missed", "share of last steps missed", low="missed_low", high="missed_high"),
    Panel("far_off", "share of motes without their distance"),
)
_SMALL_LOSS = 0.1
_ABOUT_80 = 75.0
"""The percentage from which on "about 80 %" are right."""
_CLOSE = 0.1
_NOTES = (
    "A shortest path counts by its last step, H(x, y, d): what a search that sees all links finds and motes do not is "
    "missed. The second panel counts motes that know no last step of a shortest path to them.",
    "logicH and logicJ in the paper's order: a mote acts on what it hears at once. By stage, it first settles lower "
    "stages. Neither order, and nothing else, was chosen by its results. Stages end at the grid's diameter.",
    "Motes know their links, so the root's neighbours know their distance without a message; in the procedural search "
    "they hear it.",
)


def draw_inaccuracy(runs: Sequence[GridRun]) -> Iterator[Figure]:
    """A figure per size; the claims about all sizes stand at the last."""
    sides = sorted({run.side for run in runs})
    for side in sides:
        table = tabulate([run for run in runs if run.side == side], "loss", ("missed", "far_off"))
        title = f"Figure 4: shortest paths missed, {side} x {side} motes"
        figure = Figure(f"deductive_figure4_{side}x{side}", title, table, "loss", _PANELS, (), _NOTES)
        own = [run for run in runs if run.side == side]
        yield figure.with_verdicts(list(_judge(own, side)))


def _judge(runs: Sequence[GridRun], side: int) -> Iterator[Verdict]:
    at = f"{side} x {side}"
    lossless = {each: mean_of(runs, "missed", technique=each, loss=0.0) for each in (PROCEDURAL, *PROGRAMS)}
    claim = f"{at}: without loss nothing is missed"
    yield judge_true(claim, "0", list_numbers(lossless), not any(lossless.values()))
    small = {each: mean_of(runs, "missed", technique=each, loss=_SMALL_LOSS) for each in (PROCEDURAL, *PROGRAMS)}
    right = {each: 100 * (1 - small[each]) for each in PROGRAMS}
    claim = f"{at}: at loss 0.1 the rules find about 80 % of the shortest paths"
    yield judge_true(claim, "about 80 %", f"{list_numbers(right, '.0f')} %", min(right.values()) >= _ABOUT_80)
    yield _judge_rise(runs, at)
    yield _judge_closeness(runs, at)
    claim = f"{at}: at small loss logicH is sometimes better than procedural"
    yield judge_true(claim, "sometimes", f"missed at 0.1: {list_numbers(small)}", small["logicH"] < small[PROCEDURAL])


def _judge_rise(runs: Sequence[GridRun], at: str) -> Verdict:
    losses = sorted({run.loss for run in runs})
    lines = {each: [mean_of(runs, "missed", technique=each, loss=loss) for loss in losses] for each in PROGRAMS}
    rises = all(low <= high for line in lines.values() for low, high in pairwise(line))
    last = {each: line[-1] for each, line in lines.items()}
    return judge_true(f"{at}: more loss, more missed", "rises", f"at {losses[-1]:g}: {list_numbers(last)}", rises)


def _judge_closeness(runs: Sequence[GridRun], at: str) -> Verdict:
    losses = sorted({run.loss for run in runs})
    worse = {
        each: max(
            mean_of(runs, "missed", technique=each, loss=loss)
            - mean_of(runs, "missed", technique=PROCEDURAL, loss=loss)
            for loss in losses
        )
        for each in PROGRAMS
    }
    claim = f"{at}: the rules are about as robust as the procedural search"
    ours = f"they miss more by at most: {list_numbers(worse)}"
    return judge_true(claim, "close", ours, max(worse.values()) <= _CLOSE, "a gap of over 0.1 is called far here")
