import pyarrow as pa
import pytest

from skerry.experiments.figure import Figure, Outcome
from skerry.experiments.shedding.claims import judge_above, judge_below, judge_near_best, judge_rising, judge_steady
from tests.experiments.example_figure import figure as at_largest


def figure(**rates: float) -> Figure:
    """Techniques at two points; all give one answer at the first."""
    table = at_largest(**rates).table.rename_columns(["technique", "memory", "answers"])
    return Figure("f", "", table.append_column("of_best", pa.repeat(0.5, table.num_rows)), "memory", (), ())


@pytest.mark.parametrize(
    ("rates", "outcome"),
    [({"a": 3, "b": 2}, Outcome.FAILS), ({"a": 1, "b": 2}, Outcome.FAILS)],
)
def test_being_above_at_half_of_the_points_is_not_enough(rates, outcome):
    assert judge_above(figure(**rates), "a", ["b"], "").outcome == outcome


def test_above_holds_if_it_is_at_every_point():
    better = figure(a=3, b=2)
    table = better.table.set_column(2, "answers", [[2.0, 1.0, 3.0, 2.0]])
    everywhere = Figure("f", "", table, "memory", (), ())
    verdict = judge_above(everywhere, "a", ["b"], "")
    assert verdict.outcome == Outcome.HOLDS
    assert verdict.ours == "in 2 of 2 comparisons; at the worst 50 % more than b, at 2"
    assert judge_below(everywhere, "b", ["a"], "").outcome == Outcome.HOLDS
    assert judge_below(everywhere, "a", ["b"], "").outcome == Outcome.FAILS
    assert "at the worst 50 % less than a" in judge_above(everywhere, "b", ["a"], "").ours


def test_remark_is_given_only_where_a_claim_fails():
    assert judge_above(figure(a=3, b=2), "a", ["b"], "", "why").remark == "why"
    assert judge_rising(figure(a=3), "a", "", "why").remark == ""


@pytest.mark.parametrize(("mine", "outcome"), [(95, Outcome.HOLDS), (94, Outcome.FAILS), (120, Outcome.HOLDS)])
def test_near_best_is_at_least_its_share_of_the_best(mine, outcome):
    verdict = judge_near_best(figure(a=mine, b=100, c=50), "a", ["a", "b", "c"], 0.95)
    assert verdict.outcome == outcome


def test_near_best_says_where_it_is_least():
    verdict = judge_near_best(figure(a=60, b=100), "a", ["b"], 0.95)
    assert verdict.ours == "60 % or more, least at memory 2; 50 % with the worst seed"


@pytest.mark.parametrize(("after", "outcome"), [(2, Outcome.HOLDS), (1, Outcome.FAILS), (0, Outcome.FAILS)])
def test_rising_is_strict(after, outcome):
    assert judge_rising(figure(a=after), "a", "").outcome == outcome


@pytest.mark.parametrize(("after", "outcome"), [(1.09, Outcome.HOLDS), (0.8, Outcome.FAILS), (0, Outcome.FAILS)])
def test_steady_is_within_a_tenth(after, outcome):
    assert judge_steady(figure(a=after, b=1), ["a", "b"], "").outcome == outcome
