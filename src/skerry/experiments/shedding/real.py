"""Figure 11: a web server's log, joined on the host over four pages."""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from skerry.experiments.figure import Figure
from skerry.experiments.shedding.claims import above, near_best
from skerry.experiments.shedding.normal import foreseen
from skerry.experiments.shedding.runs import ANSWERS, Case, Tell, measured
from skerry.experiments.shedding.unique import BEST_SHARE, RIVALS
from skerry.experiments.shedding.weblog import PAGES, WINDOW_US, first_visits, read_weblog
from skerry.kernels.joins.snjoin import Tuples
from skerry.model.time import show_span
from skerry.shedding.bounded_join import POLICIES

__all__ = ["by_real_memory"]

_REPEATING = "hosts come back, most of all those that stand for many people, and their requests combine with each other"
_NO_ORDER = "hosts that visit all four pages of this server take no order of their own"


def by_real_memory(log: Path, sizes: Sequence[int], seeds: int, tell: Tell) -> Iterator[Figure]:
    """Figure 11 with all requests; and with the first visits alone, so that hosts are counted. Seeds are for lots."""
    requests = read_weblog(log)
    yield _figure("shedding_figure11", "all requests", requests, _REPEATING, sizes, seeds, tell)
    yield _figure("shedding_figure11_hosts", "first visits", first_visits(requests), _NO_ORDER, sizes, seeds, tell)


def _figure(
    name: str, told: str, requests: Tuples, remark: str, sizes: Sequence[int], seeds: int, tell: Tell
) -> Figure:
    cases = [Case(size, len(PAGES), size, partial(_same, requests)) for size in sizes]
    table = measured(cases, "memory", seeds, foreseen, tell)
    figure = Figure(name, f"Figure 11: a web server's log, {told}", table, "memory", (ANSWERS,), ())
    verdicts = [
        above(figure, "pattern", RIVALS, "patterns give more at every memory size", remark),
        near_best(figure, "adaptive", tuple(POLICIES), BEST_SHARE),
    ]
    return figure.with_verdicts(verdicts, _notes(requests, told))


def _same(requests: Tuples, seed: int) -> Tuples:
    return requests


def _notes(requests: Tuples, told: str) -> list[str]:
    return [
        f"The log of NASA's server, 1 to 5 August 1995, in place of ClarkNet's: {requests.keys.size:,} tuples, {told}, "
        f"for {', '.join(PAGES)}. The window, which the paper does not say, is {show_span(WINDOW_US)}.",
    ]
