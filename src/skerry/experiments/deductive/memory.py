"""What motes keep: tuples per mote and derivations per tuple, by the size of the network, without loss."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from skerry.experiments.deductive.claims import judge_true, list_numbers
from skerry.experiments.deductive.grid_runs import PROCEDURAL, GridRun
from skerry.experiments.deductive.programs import PROGRAMS
from skerry.experiments.deductive.tabulate import mean_of, tabulate
from skerry.experiments.figure import Figure, Panel, Verdict

__all__ = ["draw_memory"]

_PANELS = (
    Panel("mean_tuples", "tuples per mote, mean", low="mean_tuples_low", high="most_tuples_high"),
    Panel("mean_derivations", "derivations per tuple, mean"),
)
_MEASURES = ("mean_tuples", "most_tuples", "mean_derivations", "most_derivations")
_NOTES = (
    "Of a mote, the most tuples that it held at a time: its own and replicas of others, without links. Derivations are "
    "those of derived tuples that hold at the end.",
)


def draw_memory(runs: Sequence[GridRun]) -> Figure:
    """One figure, with a band up to the mote with the most."""
    rules = [replace(run, side=run.side**2) for run in runs if run.loss == 0.0 and run.technique != PROCEDURAL]
    table = tabulate(rules, "side", _MEASURES)
    table = table.rename_columns(["motes" if name == "side" else name for name in table.column_names])
    title = "Memory of motes, without loss"
    figure = Figure("deductive_memory", title, table, "motes", _PANELS, (), _NOTES)
    return figure.with_verdicts(list(_judge(runs)))


def _judge(runs: Sequence[GridRun]) -> Iterator[Verdict]:
    side = 7 if any(run.side == 7 for run in runs) else max(run.side for run in runs)
    at, point = f"{side} x {side}", {"side": side, "loss": 0.0}
    tuples = {name: mean_of(runs, "mean_tuples", technique=name, **point) for name in PROGRAMS}
    claim = f"{at}: a mote keeps few tuples"
    yield judge_true(
        claim, "8 to 10 per mote", f"{list_numbers(tuples, '.1f')} on average", max(tuples.values()) <= 10.0
    )
    most = {name: mean_of(runs, "most_derivations", technique=name, **point) for name in PROGRAMS}
    mean = {name: mean_of(runs, "mean_derivations", technique=name, **point) for name in PROGRAMS}
    ours = f"at most {list_numbers(most, '.0f')}; on average {list_numbers(mean, '.1f')}"
    remark = "H' has a derivation per pair of a distance of its mote and one of a neighbour; all of them are kept here"
    yield judge_true(f"{at}: a tuple has few derivations", "at most 2", ours, max(most.values()) <= 2.0, remark)
