"""Figure 7: one Fjord for n queries against n Fjords, without filters, with one that does nothing, with selections."""

import time
from collections.abc import Callable, Iterator, Sequence
from statistics import median

import pyarrow as pa

from skerry.experiments.figure import Figure, Outcome, Panel, Verdict
from skerry.experiments.fjords.claims import judge_true
from skerry.experiments.fjords.fjords import AT_ONCE, Fjord, Forward, build_filter, cut_selections, run_in_threads
from skerry.experiments.fjords.trace import Trace
from skerry.fjord.module import Transitions

__all__ = ["measure_sharing", "take_cpu_ms"]

Filters = Sequence[Transitions | None]

_ONE, _MANY = "one Fjord", "a Fjord each"
_NONE, _NULL, _SELECTION = "no filter", "null", "selection"
_NEAR = 0.25
"""Costs that differ by less count as the same."""
_TRIALS = 3


def measure_sharing(trace: Trace, counts: Sequence[int]) -> Figure:
    """Total time and time per query; ``counts`` begin with one query."""
    _warm_up(trace)
    rows = [row for count in counts for kind in (_NONE, _NULL, _SELECTION) for row in _measure(trace, kind, count)]
    panels = (Panel("total_ms", "CPU time, ms"), Panel("per_query_ms", "CPU time per query, ms"))
    title = "Figure 7: queries in one Fjord, or in one each"
    figure = Figure("fjords_figure7", title, pa.Table.from_pylist(rows), "queries", panels, ())
    notes = [
        f"{trace.records:,} records of 30 bytes, preloaded; {AT_ONCE} come at once, for operators work on batches. "
        "CPU time of the process, medians of three. A Fjord of its own for each query is a thread of its own.",
        "The paper's text gives no numbers of this figure but what its filters cost on a Pentium III: 300 ms the null "
        "one, 600 ms the selection.",
    ]
    return figure.with_verdicts(list(_judge(figure, counts[-1])), notes)


def _warm_up(trace: Trace) -> None:
    Fjord(trace, _make_filters(_SELECTION, 1)).run()


def _make_filters(kind: str, count: int) -> Filters:
    if kind == _SELECTION:
        return [build_filter(view) for view in cut_selections(count)]
    return [Forward() if kind == _NULL else None for _ in range(count)]


def _measure(trace: Trace, kind: str, count: int) -> Iterator[dict[str, float | str]]:
    """Both ways in turn, and each gives the same answers."""
    filters = _make_filters(kind, count)
    found: dict[str, list[float]] = {_ONE: [], _MANY: []}
    for _ in range(_TRIALS):
        shared, own = Fjord(trace, filters), [Fjord(trace, [each]) for each in _make_filters(kind, count)]
        found[_ONE].append(take_cpu_ms(shared.run))
        found[_MANY].append(take_cpu_ms(lambda own=own: run_in_threads(own)))  # type: ignore[misc]
        assert list(shared.count_answers()) == [rows for fjord in own for rows in fjord.count_answers()]
    for way, times in found.items():
        total_ms = median(times)
        yield {
            "technique": f"{way}, {kind}",
            "queries": count,
            "total_ms": round(total_ms, 3),
            "per_query_ms": round(total_ms / count, 3),
        }


def take_cpu_ms(work: Callable[[], object]) -> float:
    """How much CPU time all threads of the process need for something."""
    began = time.process_time()
    work()
    return 1_000 * (time.process_time() - began)


def _judge(figure: Figure, most: int) -> Iterator[Verdict]:
    yield _judge_sharing(figure)
    yield _judge_costs(figure, most)
    first, last = (figure.line(f"{_ONE}, {_SELECTION}", "per_query_ms")[1][end] for end in (0, -1))
    yield judge_true(
        "one Fjord: a further query costs less than the first",
        "less",
        f"{last:.1f} ms per query of {most}, {first:.1f} ms alone",
        last < first,
    )
    first, last = (figure.line(f"{_MANY}, {_SELECTION}", "per_query_ms")[1][end] for end in (0, -1))
    yield judge_true(
        "a Fjord each: a further query costs about as much as the first",
        "the same",
        f"{last:.1f} ms per query of {most}, {first:.1f} ms alone",
        abs(last / first - 1.0) <= _NEAR,
        "threads of one Python process take turns, and pay for that",
    )


def _judge_sharing(figure: Figure) -> Verdict:
    """Whether one Fjord always takes less, from two queries on."""
    gains = {
        kind: [
            many / one
            for count, one, many in zip(
                figure.line(f"{_ONE}, {kind}", "total_ms")[0],
                figure.line(f"{_ONE}, {kind}", "total_ms")[1],
                figure.line(f"{_MANY}, {kind}", "total_ms")[1],
                strict=True,
            )
            if count > 1
        ]
        for kind in (_NONE, _NULL, _SELECTION)
    }
    ours = ", ".join(f"{kind} {min(each):.1f} to {max(each):.1f} times" for kind, each in gains.items())
    least = min(min(each) for each in gains.values())
    return judge_true("one Fjord takes less time than one each, in all cases", "handily", ours, least > 1.0)


def _judge_costs(figure: Figure, most: int) -> Verdict:
    """Whether filters cost the same both ways: what a query with one takes more than a query without."""
    costs = {
        (way, kind): (
            figure.at_largest(f"{way}, {kind}", "per_query_ms") - figure.at_largest(f"{way}, {_NONE}", "per_query_ms")
        )
        for way in (_ONE, _MANY)
        for kind in (_NULL, _SELECTION)
    }
    ours = "; ".join(f"{kind} {costs[_ONE, kind]:.2f} and {costs[_MANY, kind]:.2f} ms" for kind in (_NULL, _SELECTION))
    apart = costs[_MANY, _SELECTION] / costs[_ONE, _SELECTION] - 1.0
    return Verdict(
        f"a filter costs the same in one Fjord and in one each (per query of {most})",
        "null 300, selection 600 ms both ways",
        ours,
        Outcome.HOLDS if abs(apart) <= _NEAR else Outcome.FAILS,
        "" if abs(apart) <= _NEAR else "judged by the selection; what threads pay for their turns is in it",
    )
