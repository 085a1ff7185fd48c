"""Figures 5 to 8: values that go through the streams once."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from skerry.experiments.figure import Figure, Verdict
from skerry.experiments.shedding.claims import judge_above, judge_near_best, judge_rising, judge_steady
from skerry.experiments.shedding.measure_policies import ANSWERS, Case, Tell, measure
from skerry.experiments.shedding.workload import Workload, generate
from skerry.kernels.joins.snjoin import Tuples
from skerry.rivals.shedding.optimum import find_needs, find_optimum
from skerry.shedding.bounded_join import POLICIES

__all__ = [
    "BEST_FRACTION",
    "RIVALS",
    "measure_by_drift",
    "measure_by_memory",
    "measure_by_orders",
    "measure_by_rate",
    "measure_by_skew",
    "measure_by_streams",
]

RIVALS = ("frequency", "output", "random")
"""Those that the paper has."""
BEST_FRACTION = 0.95
_MEMORY = 500
_NO_ROOM_TO_RISE = "with ten orders, patterns are near the optimum without any skew"
_HOLDS_ON = "frequency holds on to values that are in many windows, and keeps them though they go no further"
_FASTER = "here a higher rate is the same data, faster: less of it ends in time to make room, and nothing is gained"


def measure_by_memory(sizes: Sequence[int], seeds: int, workload: Workload, tell: Tell) -> Figure:
    """Figure 5."""
    cases = [_case(size, size, workload) for size in sizes]
    figure = _measure_figure("shedding_figure5", "Figure 5: output by memory size", "memory", cases, seeds, tell)
    gives_more = judge_rising(figure, "pattern", "output of patterns rises with memory")
    return figure.with_verdicts([*_judge_common(figure, "memory size"), gives_more], _notes(workload, seeds))


def measure_by_skew(alphas: Sequence[float], seeds: int, workload: Workload, tell: Tell) -> Figure:
    """Figure 6."""
    cases = [_case(alpha, _MEMORY, replace(workload, alpha=alpha)) for alpha in alphas]
    figure = _measure_figure("shedding_figure6", "Figure 6: output by skew", "alpha", cases, seeds, tell)
    verdicts = [
        *_judge_common(figure, "skew"),
        judge_rising(figure, "pattern", "output of patterns rises with the skew", _NO_ROOM_TO_RISE),
        judge_steady(figure, RIVALS, "that of the others does not depend on the skew", _HOLDS_ON),
    ]
    return figure.with_verdicts(verdicts, _notes(workload, seeds))


def measure_by_rate(rates: Sequence[float], seeds: int, workload: Workload, tell: Tell) -> Figure:
    """Figure 7."""
    cases = [_case(rate, _MEMORY, replace(workload, rate_hz=rate)) for rate in rates]
    figure = _measure_figure("shedding_figure7", "Figure 7: output by arrival rate", "rate_hz", cases, seeds, tell)
    verdicts = [
        *_judge_common(figure, "rate"),
        judge_rising(figure, "pattern", "output of patterns rises with the rate, up to 16.7 a second", _FASTER),
        judge_steady(figure, RIVALS, "that of the others does not depend on the rate", _FASTER),
    ]
    return figure.with_verdicts(verdicts, _notes(workload, seeds))


def measure_by_streams(counts: Sequence[int], seeds: int, workload: Workload, tell: Tell) -> Figure:
    """Figure 8."""
    cases = [_case(count, _MEMORY, replace(workload, stream_count=count)) for count in counts]
    figure = _measure_figure("shedding_figure8", "Figure 8: output by number of streams", "streams", cases, seeds, tell)
    return figure.with_verdicts(_judge_common(figure, "number of streams"), _notes(workload, seeds))


def measure_by_drift(alphas: Sequence[float], seeds: int, workload: Workload, tell: Tell) -> Figure:
    """As Figure 6, with another list of orders for the second half; not in the paper."""
    cases = [_case(alpha, _MEMORY, replace(workload, alpha=alpha, drifts=True)) for alpha in alphas]
    title = "As Figure 6, other orders from half way on"
    figure = _measure_figure("shedding_drift", title, "alpha", cases, seeds, tell)
    return figure.with_verdicts([_judge_near_best(figure)], _notes(workload, seeds))


def measure_by_orders(counts: Sequence[int], seeds: int, workload: Workload, tell: Tell) -> Figure:
    """How Figure 5 depends on the number of orders, which is ours to choose; the last is all that are possible."""
    cases = [_case(count, _MEMORY, replace(workload, order_count=count)) for count in counts]
    title = f"As Figure 5, memory {_MEMORY}, by the number of orders there are"
    figure = _measure_figure("shedding_orders", title, "orders", cases, seeds, tell)
    return figure.with_verdicts([_judge_near_best(figure)], _notes(workload, seeds))


def _case(across: float, memory: int, workload: Workload) -> Case:
    return Case(across, workload.stream_count, memory, partial(generate, workload))


def _measure_figure(name: str, title: str, across: str, cases: Sequence[Case], seeds: int, tell: Tell) -> Figure:
    table = measure(cases, across, seeds, _find_bounds, tell)
    return Figure(name, title, table, across, (ANSWERS,), ())


def _find_bounds(tuples: Tuples, stream_count: int, memory: int) -> Mapping[str, float]:
    """What one gives that knows the future, and what there would be if nothing were shed."""
    need = find_needs(tuples, stream_count)
    return {"optimum": find_optimum(need, memory), "unshed": need.count}


def _judge_common(figure: Figure, what: str) -> list[Verdict]:
    return [judge_above(figure, "pattern", RIVALS, f"patterns give more at every {what}"), _judge_near_best(figure)]


def _judge_near_best(figure: Figure) -> Verdict:
    return judge_near_best(figure, "adaptive", tuple(POLICIES), BEST_FRACTION)


def _notes(workload: Workload, seeds: int) -> list[str]:
    return [
        f"{seeds} seeds; the line is their mean, the band goes from the least to the most. "
        f"{workload.tuple_count:,} tuples a stream; else 5 streams, memory {_MEMORY}, 10 tuples a second, no skew.",
        "One tuple in ten is of a value that appears in all streams. A value takes one of "
        f"{workload.order_count} orders through the streams, a list for each seed, and up to 100 s at 10 a second.",
        "The optimum knows the future; where it is as much as unshed, which has all the memory it needs, it is exact.",
    ]
