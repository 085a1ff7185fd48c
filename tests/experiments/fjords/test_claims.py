import pytest

from skerry.experiments.figure import Outcome
from skerry.experiments.fjords.claims import judge_near, judge_true, read_at
from tests.experiments.example_figure import figure


@pytest.mark.parametrize(
    ("ours", "outcome", "words"),
    [
        (114.0, Outcome.HOLDS, "14.0 % more"),
        (86.0, Outcome.HOLDS, "14.0 % less"),
        (116.0, Outcome.FAILS, "16.0 % more"),
        (400.0, Outcome.FAILS, "4 times the paper's"),
        (34.0, Outcome.FAILS, "0.34 times the paper's"),
    ],
)
def test_near_is_within_15_percent(ours, outcome, words):
    verdict = judge_near("", 100.0, ours, "mW", "why")
    assert (verdict.outcome, verdict.ours) == (outcome, f"{ours:.3g} mW, {words}")
    assert verdict.remark == ("why" if outcome == Outcome.FAILS else "")


def test_claim_that_is_true_needs_no_remark():
    assert judge_true("", "", "", True, "why").remark == ""
    assert judge_true("", "", "", False, "why").remark == "why"


def test_measure_is_read_where_it_was_taken():
    assert read_at(figure(a=7.0), "a", "rate", 2) == 7.0
