"""Figure 9: what a tuple costs."""

from collections.abc import Sequence
from dataclasses import replace
from time import perf_counter

import pyarrow as pa

from skerry.experiments.figure import Figure, Outcome, Panel, Verdict
from skerry.experiments.shedding.measure_policies import Case, Tell, count_answers
from skerry.experiments.shedding.workload import Workload, generate, select
from skerry.kernels.joins.snjoin import Tuples
from skerry.shedding.bounded_join import POLICIES

__all__ = ["measure_speed_by_memory", "measure_speed_by_streams"]

_MEASURE = "microseconds"
_PANELS = (Panel(_MEASURE, "time a tuple, µs"),)
_REPEATS = 3
_MEMORY = 500
_WHOLE_JOIN = "ours is the time of the whole join, not of the bookkeeping alone, and a key is found by its hash"


def measure_speed_by_memory(sizes: Sequence[int], workload: Workload, tell: Tell) -> Figure:
    """Figure 9a."""
    cases = [_case(size, size, workload) for size in sizes]
    figure = _measure_figure("shedding_figure9a", "Figure 9a: time a tuple by memory size", "memory", cases, tell)
    return figure.with_verdicts([_judge_least(figure)], _notes(workload))


def measure_speed_by_streams(counts: Sequence[int], workload: Workload, tell: Tell) -> Figure:
    """Figure 9b."""
    cases = [_case(count, _MEMORY, replace(workload, stream_count=count)) for count in counts]
    figure = _measure_figure(
        "shedding_figure9b", "Figure 9b: time a tuple by number of streams", "streams", cases, tell
    )
    return figure.with_verdicts([_judge_least(figure)], _notes(workload))


def _case(across: float, memory: int, workload: Workload) -> Case:
    return Case(across, workload.stream_count, memory, lambda seed: generate(workload, seed))


def _measure_figure(name: str, title: str, across: str, cases: Sequence[Case], tell: Tell) -> Figure:
    rows = []
    for case in cases:
        tell(f"time by {across} {case.across:g}")
        tuples = case.data(0)
        for policy in POLICIES:
            rows.append({"technique": policy, across: case.across, _MEASURE: _measure_time(policy, case, tuples)})
    return Figure(name, title, pa.Table.from_pylist(rows), across, _PANELS, ())


def _measure_time(policy: str, case: Case, tuples: Tuples) -> float:
    """The best of a few repeats, in microseconds a tuple, after one that compiles."""
    count_answers(policy, case, select(tuples, slice(1_000)), seed=0)
    times = []
    for _ in range(_REPEATS):
        begin = perf_counter()
        count_answers(policy, case, tuples, seed=0)
        times.append(perf_counter() - begin)
    return round(1e6 * min(times) / tuples.keys.size, 4)


def _judge_least(figure: Figure) -> Verdict:
    """Whether patterns cost less than values at every point."""
    lines = {policy: figure.line(policy, _MEASURE)[1] for policy in ("pattern", "frequency", "output")}
    cheaper = [mine < min(others) for mine, *others in zip(*lines.values(), strict=True)]
    ours = "; ".join(f"{policy} {', '.join(f'{time:.2g}' for time in times)} µs" for policy, times in lines.items())
    outcome = Outcome.HOLDS if all(cheaper) else Outcome.DIRECTION if any(cheaper) else Outcome.FAILS
    paper = "much less time than frequency and output"
    return Verdict("patterns cost less a tuple than values", paper, ours, outcome, "" if all(cheaper) else _WHOLE_JOIN)


def _notes(workload: Workload) -> list[str]:
    return [
        f"The best of {_REPEATS} repeats, {workload.tuple_count:,} tuples a stream; answers are counted, not written.",
        "What is measured is the whole join, not the shedding alone; random and oldest show what it costs without.",
    ]
