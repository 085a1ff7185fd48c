"""Figure 10: values that repeat, drawn by a normal law."""

from collections.abc import Mapping, Sequence
from functools import partial

from skerry.experiments.figure import Figure
from skerry.experiments.shedding.claims import judge_below, judge_near_best
from skerry.experiments.shedding.figures5_to_8_unique_values import BEST_FRACTION
from skerry.experiments.shedding.measure_policies import ANSWERS, Case, Tell, measure
from skerry.experiments.shedding.workload import Workload, generate
from skerry.kernels.joins.snjoin import Tuples
from skerry.rivals.shedding.foresight import count_with_foresight
from skerry.shedding.bounded_join import POLICIES

__all__ = ["find_foresight", "measure_by_variance"]

_MEMORY = 500


def measure_by_variance(variances: Sequence[float], seeds: int, tuple_count: int, tell: Tell) -> Figure:
    """Figure 10."""
    cases = [_case(Workload(variance=variance, tuple_count=tuple_count)) for variance in variances]
    table = measure(cases, "variance", seeds, find_foresight, tell)
    figure = Figure("shedding_figure10", "Figure 10: values by a normal law", table, "variance", (ANSWERS,), ())
    verdicts = [
        judge_below(
            figure, "pattern", ("frequency", "output"), "where values repeat, patterns give less than values do"
        ),
        judge_near_best(figure, "adaptive", tuple(POLICIES), BEST_FRACTION),
    ]
    return figure.with_verdicts(verdicts, _notes(seeds, tuple_count))


def find_foresight(tuples: Tuples, stream_count: int, memory: int) -> Mapping[str, float]:
    """What the best greedy gives that knows the future."""
    return {"foresight": count_with_foresight(tuples, stream_count, memory)}


def _case(workload: Workload) -> Case:
    return Case(workload.variance, workload.stream_count, _MEMORY, partial(generate, workload))


def _notes(seeds: int, tuple_count: int) -> list[str]:
    return [
        f"{seeds} seeds; 5 streams, {tuple_count:,} tuples a stream, 10 a second, memory {_MEMORY}. Values are whole "
        "numbers around 100: some 30, so that a tuple has millions of combinations. They are counted, not written.",
        "Foresight is a greedy that knows what each tuple would give if nothing were shed, a second of its life. It is "
        "not the optimum, for what a tuple gives depends on what else is kept.",
    ]
