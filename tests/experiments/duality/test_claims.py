import pyarrow as pa
import pytest

from skerry.errors import RunError
from skerry.experiments.duality.claims import (
    judge_falling,
    judge_faster,
    judge_growing,
    judge_ranking,
    judge_rising,
    judge_steady,
)
from skerry.experiments.duality.timing import check_agreement
from skerry.experiments.figure import Figure, Outcome


def figure(**times: list[float]) -> Figure:
    """Techniques with their times at points from 0 on."""
    rows = [
        {"technique": name, "queries": query_count, "microseconds": float(time)}
        for name, line in times.items()
        for query_count, time in enumerate(line)
    ]
    return Figure("figure", "", pa.Table.from_pylist(rows), "queries", (), ())


@pytest.mark.parametrize(
    ("fast", "outcome", "remark"),
    [
        (1, Outcome.HOLDS, "why"),
        (3, Outcome.HOLDS, ""),
        (5, Outcome.DIRECTION, "why"),
        (20, Outcome.FAILS, "why"),
    ],
)
def test_faster_is_judged_at_the_last_point(fast, outcome, remark):
    verdict = judge_faster(figure(a=[50, fast], b=[1, 10]), ("a", "b"), 3, "", "why")
    assert (verdict.outcome, verdict.remark) == (outcome, remark)


@pytest.mark.parametrize(
    ("times", "outcome"),
    [
        ([1, 1, 1], Outcome.HOLDS),
        ([1, 3, 1], Outcome.DIRECTION),
        ([3, 3, 1], Outcome.FAILS),
    ],
)
def test_rank_holds_at_every_point_or_at_most(times, outcome):
    assert judge_ranking(figure(a=times, b=[2, 2, 2]), ["a", "b"], "").outcome == outcome


@pytest.mark.parametrize(
    ("times", "outcome"),
    [
        ([1, 2, 3], Outcome.HOLDS),
        ([1, 2, 2], Outcome.HOLDS),
        ([1, 3, 2], Outcome.DIRECTION),
        ([2, 2, 2], Outcome.FAILS),
        ([3, 2, 1], Outcome.FAILS),
    ],
)
def test_rising_may_stay_but_not_throughout(times, outcome):
    assert judge_rising(figure(a=times), "a", "microseconds", "").outcome == outcome
    assert judge_falling(figure(a=[-time for time in times]), "a", "").outcome == outcome
    assert judge_growing(figure(a=[1, 1, 1], b=times), ("a", "b"), "").outcome == outcome


@pytest.mark.parametrize(("last", "outcome"), [(1.2, Outcome.HOLDS), (0.7, Outcome.FAILS), (1.3, Outcome.FAILS)])
def test_steady_is_within_a_quarter(last, outcome):
    assert judge_steady(figure(a=[1, last], b=[1, 1]), ["a", "b"], "").outcome == outcome


def test_techniques_that_count_differently_are_reported():
    with pytest.raises(RunError, match="disagree on how many pairs"):
        check_agreement({"one": 1, "other": 2})
