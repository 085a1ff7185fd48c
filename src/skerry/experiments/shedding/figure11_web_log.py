"""Figure 11: a web server's log, joined on the host over four pages."""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from skerry.experiments.figure import Figure
from skerry.experiments.shedding.claims import judge_above, judge_near_best
from skerry.experiments.shedding.figure10_repeating_values import find_foresight
from skerry.experiments.shedding.figures5_to_8_unique_values import BEST_FRACTION, RIVALS
from skerry.experiments.shedding.measure_policies import ANSWERS, Case, Tell, measure
from skerry.experiments.shedding.web_log import PAGES, WINDOW_US, keep_first_visits, read_web_log
from skerry.kernels.joins.snjoin import Tuples
from skerry.model.time import show_span
from skerry.shedding.bounded_join import POLICIES

__all__ = ["measure_web_log"]

_REPEATING = "hosts come back, most of all those that stand for many people, and their requests combine with each other"
_NO_ORDER = "hosts that visit all four pages of this server take no order of their own"


def measure_web_log(log: Path, sizes: Sequence[int], seeds: int, tell: Tell) -> Iterator[Figure]:
    """Figure 11 with all requests; and with the first visits alone, so that hosts are counted. Seeds are for lots."""
    requests = read_web_log(log)
    yield _measure_figure("shedding_figure11", "all requests", requests, _REPEATING, sizes, seeds, tell)
    yield _measure_figure(
        "shedding_figure11_hosts", "first visits", keep_first_visits(requests), _NO_ORDER, sizes, seeds, tell
    )


def _measure_figure(
    name: str, subset: str, requests: Tuples, remark: str, sizes: Sequence[int], seeds: int, tell: Tell
) -> Figure:
    cases = [Case(size, len(PAGES), size, partial(_take_same, requests)) for size in sizes]
    table = measure(cases, "memory", seeds, find_foresight, tell)
    figure = Figure(name, f"Figure 11: a web server's log, {subset}", table, "memory", (ANSWERS,), ())
    verdicts = [
        judge_above(figure, "pattern", RIVALS, "patterns give more at every memory size", remark),
        judge_near_best(figure, "adaptive", tuple(POLICIES), BEST_FRACTION),
    ]
    return figure.with_verdicts(verdicts, _notes(requests, subset))


def _take_same(requests: Tuples, seed: int) -> Tuples:
    return requests


def _notes(requests: Tuples, subset: str) -> list[str]:
    return [
        f"The log of NASA's server, 1 to 5 August 1995, in place of ClarkNet's: {requests.keys.size:,} tuples, "
        f"{subset}, for {', '.join(PAGES)}. The window, which the paper does not say, is {show_span(WINDOW_US)}.",
    ]
