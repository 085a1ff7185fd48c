import pyarrow as pa
import pytest

from skerry.errors import RunError
from skerry.experiments.duality.claims import falling, faster, growing, ranked, rising, steady
from skerry.experiments.duality.timing import agreed
from skerry.experiments.figure import Figure, Outcome


def figure(**times: list[float]) -> Figure:
    """Techniques with their times at places from 0 on."""
    rows = [
        {"technique": name, "queries": place, "microseconds": float(time)}
        for name, line in times.items()
        for place, time in enumerate(line)
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
def test_faster_is_judged_at_the_last_place(fast, outcome, remark):
    verdict = faster(figure(a=[50, fast], b=[1, 10]), ("a", "b"), 3, "", "why")
    assert (verdict.outcome, verdict.remark) == (outcome, remark)


@pytest.mark.parametrize(
    ("times", "outcome"),
    [
        ([1, 1, 1], Outcome.HOLDS),
        ([1, 3, 1], Outcome.DIRECTION),
        ([3, 3, 1], Outcome.FAILS),
    ],
)
def test_rank_holds_at_every_place_or_at_most(times, outcome):
    assert ranked(figure(a=times, b=[2, 2, 2]), ["a", "b"], "").outcome == outcome


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
    assert rising(figure(a=times), "a", "microseconds", "").outcome == outcome
    assert falling(figure(a=[-time for time in times]), "a", "").outcome == outcome
    assert growing(figure(a=[1, 1, 1], b=times), ("a", "b"), "").outcome == outcome


@pytest.mark.parametrize(("last", "outcome"), [(1.2, Outcome.HOLDS), (0.7, Outcome.FAILS), (1.3, Outcome.FAILS)])
def test_steady_is_within_a_quarter(last, outcome):
    assert steady(figure(a=[1, last], b=[1, 1]), ["a", "b"], "").outcome == outcome


def test_techniques_that_count_differently_are_told():
    with pytest.raises(RunError, match="disagree on how many pairs"):
        agreed({"one": 1, "other": 2})
