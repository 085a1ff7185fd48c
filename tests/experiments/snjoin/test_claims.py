import pytest

from skerry.experiments.figure import Outcome
from skerry.experiments.snjoin.claims import judge_fall, judge_gain, judge_order, judge_saving, judge_steadiness
from tests.experiments.example_figure import figure


@pytest.mark.parametrize(
    ("rates", "outcome"),
    [((3, 2, 1), Outcome.HOLDS), ((3, 1, 2), Outcome.FAILS), ((3, 3, 1), Outcome.FAILS), ((0, 0, 0), Outcome.FAILS)],
)
def test_order_must_be_strict(rates, outcome):
    measured = figure(**dict(zip("abc", rates, strict=True)))
    assert judge_order(measured, "rate", [["a"], ["b"], ["c"]], "").outcome == outcome


def test_order_of_groups_is_that_of_all_their_members():
    assert judge_order(figure(a=3, b=2, c=1), "rate", [["a"], ["b", "c"]], "").outcome == Outcome.HOLDS
    assert judge_order(figure(a=3, b=2, c=4), "rate", [["a"], ["b", "c"]], "").outcome == Outcome.FAILS


@pytest.mark.parametrize(
    ("better", "outcome", "text"),
    [
        (150, Outcome.HOLDS, "+50 %"),
        (110, Outcome.DIRECTION, "+10 %"),
        (90, Outcome.FAILS, "-10 %"),
        (1000, Outcome.HOLDS, "10 times"),
    ],
)
def test_gain_holds_if_it_is_at_least_the_papers(better, outcome, text):
    verdict = judge_gain(figure(a=better, b=100), ("a", "b"), "rate", 45, "")
    assert (verdict.outcome, verdict.ours) == (outcome, text)


def test_gain_over_nothing_is_put_in_words():
    assert "gives nothing" in judge_gain(figure(a=1, b=0), ("a", "b"), "rate", 45, "").ours
    assert judge_gain(figure(a=0, b=0), ("a", "b"), "rate", 45, "").outcome == Outcome.FAILS


@pytest.mark.parametrize(("less", "outcome"), [(50, Outcome.HOLDS), (80, Outcome.DIRECTION), (120, Outcome.FAILS)])
def test_saving_is_of_the_second(less, outcome):
    assert judge_saving(figure(a=less, b=100), ("a", "b"), "rate", 38, "").outcome == outcome


def test_remark_is_given_only_where_ours_differs():
    remarks = {
        better: judge_gain(figure(a=better, b=100), ("a", "b"), "rate", 45, "", "why").remark
        for better in (110, 150, 500)
    }
    assert remarks == {110: "why", 150: "", 500: "why"}


@pytest.mark.parametrize(("after", "outcome"), [(40, Outcome.HOLDS), (90, Outcome.DIRECTION), (110, Outcome.FAILS)])
def test_fall_is_compared_with_the_papers(after, outcome):
    assert judge_fall((figure(a=100), figure(a=after)), "a", "rate", 50, "").outcome == outcome


@pytest.mark.parametrize(("after", "outcome"), [(97, Outcome.HOLDS), (90, Outcome.FAILS), (110, Outcome.HOLDS)])
def test_steadiness_is_a_fall_that_is_no_more_than_the_papers(after, outcome):
    assert judge_steadiness((figure(a=100), figure(a=after)), "a", "rate", 4, "").outcome == outcome
