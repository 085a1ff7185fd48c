import json
from dataclasses import replace

from skerry.experiments.figure import Outcome, Panel, Verdict
from skerry.experiments.report import write_figure, write_report
from tests.experiments.example_figure import figure


def test_report_has_a_row_for_each_claim_with_paper_ours_and_outcome(tmp_path):
    claims = [Verdict("a above b", "+5 %", "+9 %", Outcome.HOLDS), Verdict("b", "1", "2", Outcome.FAILS, "too slow")]
    write_report([figure(a=1).with_verdicts(claims, ["measured so"])], tmp_path, "skerry reproduce")
    report = (tmp_path / "report.md").read_text()
    assert "| [figure](figure.csv) | a above b | +5 % | +9 % | **holds** |" in report
    assert "| [figure](figure.csv) | b | 1 | 2 | **does not hold**: too slow |" in report
    assert "- measured so" in report


def test_summary_says_the_same_for_machines(tmp_path):
    write_report([figure(a=1).with_verdicts([Verdict("a", "1", "2", Outcome.DIRECTION)])], tmp_path, "skerry reproduce")
    (summarised,) = json.loads((tmp_path / "summary.json").read_text())["figures"]
    assert summarised["name"] == "figure"
    assert summarised["verdicts"] == [
        {"claim": "a", "paper": "1", "ours": "2", "outcome": "in direction only", "remark": ""}
    ]


def test_table_is_written_as_csv(tmp_path):
    write_figure(figure(a=3), tmp_path)
    lines = (tmp_path / "figure.csv").read_text().splitlines()
    assert lines == ['"technique","sensors","rate"', '"a",1,1', '"a",2,3']


def test_picture_is_a_png(tmp_path):
    write_figure(figure(a=3, b=2), tmp_path)
    assert (tmp_path / "figure.png").read_bytes().startswith(b"\x89PNG")


def test_rates_that_are_all_zero_are_drawn_too(tmp_path):
    nothing = figure(a=0)
    rates = nothing.table.set_column(2, "rate", [[0.0, 0.0]])
    write_figure(replace(nothing, table=rates, panels=(Panel("rate", "rate", logarithmic=True),)), tmp_path)
    assert (tmp_path / "figure.png").exists()
