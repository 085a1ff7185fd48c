"""Figure 5: messages in all, by the size of the network, at three probabilities of loss."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from skerry.experiments.deductive.claims import judge_factor, judge_true, list_numbers
from skerry.experiments.deductive.grid_runs import BY_STAGE, PROCEDURAL, TECHNIQUES, GridRun
from skerry.experiments.deductive.tabulate import mean_of, tabulate
from skerry.experiments.figure import Figure, Panel, Verdict

__all__ = ["draw_messages"]

_PANELS = (
    Panel("messages", "messages, mean", logarithmic=True),
    Panel("messages_median", "messages, median", logarithmic=True),
)
_PROPORTIONAL = 25.0
"""In percent: how far messages per mote may differ between sizes."""
_RUNAWAY = (
    "in the paper's order a path that is not the shortest may be inserted, passed on and deleted again; the mean hangs "
    "on the few runs in which that spreads"
)
_NO_TRANSIENTS = (
    "few longer paths overtake shorter ones here, so hardly anything is inserted and deleted again; likely the delays "
    "of the paper's simulator differed more"
)
_NOTES = (
    "Joins by broadcast; a message is a transmission, however many motes hear it. The table has mean, median, least "
    "and most over all seeds.",
    "A hop takes 5 to 20 ms, drawn per transmission. The paper's simulator had its own delays, which it does not tell.",
)


def draw_messages(runs: Sequence[GridRun], losses: Sequence[float]) -> Iterator[Figure]:
    """A figure per loss; what compares losses stands at the last."""
    for loss in losses:
        own = [replace(run, side=run.side**2) for run in runs if run.loss == loss]
        table = tabulate(own, "side", ("messages",)).rename_columns(
            ["technique", "motes", "runs", "messages", "messages_low", "messages_median", "messages_high"]
        )
        title = f"Figure 5: messages by size of the network, loss {loss:g}"
        figure = Figure(f"deductive_figure5_loss{100 * loss:.0f}", title, table, "motes", _PANELS, (), _NOTES)
        yield figure.with_verdicts(list(_judge(runs, loss, losses)))


def _judge(runs: Sequence[GridRun], loss: float, losses: Sequence[float]) -> Iterator[Verdict]:
    at = f"loss {loss:g}"
    sides = sorted({run.side for run in runs})
    for suffix, order in (("", "the paper's order"), (BY_STAGE, "by stage")):
        names = (PROCEDURAL, f"logicJ{suffix}", f"logicH{suffix}")
        per_mote = {name: [_per_mote(runs, name, side, loss) for side in sides] for name in names}
        spread = {name: 100 * (max(line) / min(line) - 1) for name, line in per_mote.items()}
        claim = f"{at}, {order}: messages are proportional to the number of motes"
        ours = f"messages per mote differ between sizes by {list_numbers(spread, '.0f')} %"
        yield judge_true(claim, "proportional", ours, max(spread.values()) <= _PROPORTIONAL, _RUNAWAY)
        procedural, logic_j, logic_h = (per_mote[name][-1] for name in names)
        largest = f"{at}, {sides[-1]} x {sides[-1]}, {order}"
        remark = _NO_TRANSIENTS if logic_j < procedural * 2 else _RUNAWAY
        yield judge_factor(f"{largest}: logicJ sends twice what procedural does", 2.0, logic_j / procedural, remark)
        ours = f"{list_numbers({name: per_mote[name][-1] for name in names})} per mote"
        claim = f"{largest}: logicJ sends much less than logicH"
        yield judge_true(claim, "much less", ours, logic_h > 1.5 * logic_j)
    if loss == losses[-1]:
        yield _judge_fall(runs, losses, sides[-1])


def _judge_fall(runs: Sequence[GridRun], losses: Sequence[float], side: int) -> Verdict:
    lines = {name: [_per_mote(runs, name, side, loss) for loss in losses] for name in TECHNIQUES}
    falling = [name for name, line in lines.items() if all(high >= low for high, low in pairwise(line))]
    claim = f"{side} x {side}: messages fall with loss, for every program"
    ours = f"they do for {', '.join(falling) or 'none'}"
    remark = "a lost message can also make a mote try a longer path, and correct itself later"
    return judge_true(claim, "falls", ours, len(falling) == len(lines), remark)


def _per_mote(runs: Sequence[GridRun], technique: str, side: int, loss: float) -> float:
    return mean_of(runs, "messages", technique=technique, side=side, loss=loss) / side**2
