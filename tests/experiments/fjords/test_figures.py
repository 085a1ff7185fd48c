import csv

import pytest

from skerry.experiments.figure import Figure, Outcome
from skerry.experiments.fjords.claims import read_at
from skerry.experiments.fjords.figures import FULL, QUICK, Extent, measure_extent
from skerry.experiments.report import write_figure, write_report

TINY = Extent(
    cars=200,
    minutes=1,
    demanded_minutes=0.25,
    records=400,
    shared=(1, 2),
    scaled=(1, 20, 50),
    query2=(1, 2),
    rates=(90.0, 180.0),
    sampled=(90.0, 180.0),
    lifetimes_days=(30.0, 5_000.0),
)
NAMES = [
    "figure7",
    "figure8",
    "query2",
    "queues",
    "figure10a",
    "figure10b",
    "figure10c",
    "lifetimes",
    "rates",
    "accuracy",
    "accuracy_traffic",
    "metered",
    "demanded",
]
TIMED = {"fjords_figure7", "fjords_figure8", "fjords_query2", "fjords_queues"}
"""Figures whose numbers differ from machine to machine."""


@pytest.fixture(scope="module")
def figures() -> dict[str, Figure]:
    return {figure.name: figure for figure in measure_extent(TINY, lambda progress: None)}


def test_all_figures_are_measured_and_judged(figures):
    assert list(figures) == [f"fjords_{name}" for name in NAMES]
    assert all(figure.verdicts and figure.notes for figure in figures.values())


@pytest.mark.parametrize(("name", "paper_mw"), [("figure10a", 13.0), ("figure10b", 1.1), ("figure10c", 0.38)])
def test_power_at_180_hz_is_the_papers_and_the_sum_of_its_components(figures, name, paper_mw):
    figure = figures[f"fjords_{name}"]
    parts = [read_at(figure, part, "power_mw") for part in ("radio", "processor", "A-to-D", "idle")]
    assert sum(parts) == pytest.approx(read_at(figure, "total", "power_mw"), abs=1e-5)
    assert sum(parts) == pytest.approx(paper_mw, rel=0.15)


def test_arithmetic_of_the_paper_that_fails_is_said_to_fail_with_the_reason(figures):
    failed = [
        verdict.claim
        for name, figure in figures.items()
        for verdict in figure.verdicts
        if verdict.outcome == Outcome.FAILS and verdict.remark and name not in TIMED
    ]
    assert len(failed) == 5
    for words in ("two orders of magnitude", "at full speed", "4 µJ per bit", "nearly negligible", "speed known"):
        assert sum(words in claim for claim in failed) == 1


def test_both_ways_are_measured_with_every_kind_of_filter(figures):
    kinds = [f"{way}, {kind}" for kind in ("no filter", "null", "selection") for way in ("one Fjord", "a Fjord each")]
    assert figures["fjords_figure7"].techniques() == kinds


def test_throughput_is_counted_per_query_and_for_all(figures):
    for row in figures["fjords_figure8"].table.to_pylist():
        assert row["total_per_s"] == pytest.approx(row["queries"] * row["per_query_per_s"], rel=0.01)


def test_lifetimes_are_the_papers(figures):
    lifetimes = figures["fjords_lifetimes"]
    assert read_at(lifetimes, "raw", "days") == pytest.approx(1.5, rel=0.15)
    assert read_at(lifetimes, "vehicles", "days") == pytest.approx(2.5 * 7, rel=0.15)


def test_lifetime_that_no_rate_reaches_has_no_row(figures):
    assert set(figures["fjords_rates"].table.column("days").to_pylist()) == {30.0}


def test_errors_halve_with_twice_the_rate(figures):
    for technique in ("speed known", "loops 10 ft apart", "loops 5 ft apart"):
        slow, fast = figures["fjords_accuracy"].line(technique, "length_mean")[1]
        assert 1.5 < slow / fast < 2.7


def test_motes_send_a_count_per_second_and_no_more_vehicles_than_pass(figures):
    metered = figures["fjords_metered"]
    assert read_at(metered, "counts", "readings_per_s") == pytest.approx(1.0, rel=0.05)
    assert 0.0 < read_at(metered, "vehicles", "readings_per_s") < 1.0


def test_motes_take_less_by_the_papers_factors_where_queries_need_less(figures):
    demanded = figures["fjords_demanded"]
    assert {verdict.outcome for verdict in demanded.verdicts} == {Outcome.HOLDS}
    assert read_at(demanded, "counts", "times_less") == pytest.approx(13.0 / 0.38, rel=0.15)


def test_figures_are_written_and_verdicts_can_be_checked_by_their_tables(figures, tmp_path):
    for figure in figures.values():
        write_figure(figure, tmp_path)
        assert (tmp_path / f"{figure.name}.png").read_bytes().startswith(b"\x89PNG")
    write_report(list(figures.values()), tmp_path, "skerry reproduce fjords")
    with (tmp_path / "fjords_figure10c.csv").open() as file:
        total = next(row for row in csv.DictReader(file) if (row["technique"], row["sample_hz"]) == ("total", "180"))
    assert f"{float(total['power_mw']):.3g} mW" in (tmp_path / "report.md").read_text()


@pytest.mark.parametrize("extent", [FULL, QUICK])
def test_rates_have_those_that_claims_are_about(extent):
    assert {90.0, 180.0} <= set(extent.rates) & set(extent.sampled)
