import pytest

from skerry.experiments.duality.figures import FULL, QUICK, Extent, measure_extent
from skerry.experiments.duality.techniques import Effort
from skerry.experiments.figure import Figure
from skerry.experiments.report import write_figure, write_report

TINY = Extent(
    Effort(batch=120, few=40, repeats=1),
    batches=(60, 120),
    clusters=(5, 30),
    query_counts=(100, 300),
    bounded=(2, 8),
    predicate_queries=200,
    skews=(0.0, 1.0),
    skew_queries=200,
    skew_clusters=(5, 30),
    windows=(10, 100),
    join_query_counts=(50, 100),
)
NAMES = ["table3", "clusters", "figure15_4", "figure15_8", "figure16", "figure17", "figure18_10", "figure18_100"]
SELECTIONS = ["SJ-Batch", "SJ-Immediate", "IBS", "shipped"]


@pytest.fixture(scope="module")
def measured_figures() -> list[Figure]:
    return list(measure_extent(TINY, lambda progress: None))


def test_all_figures_are_measured_and_noted(measured_figures):
    assert [figure.name for figure in measured_figures] == [f"duality_{name}" for name in NAMES]
    assert all(figure.notes for figure in measured_figures)
    assert all(figure.verdicts for figure in measured_figures if figure.name != "duality_figure18_10")


def test_every_technique_is_drawn_beside_the_index_that_ships(measured_figures):
    assert all(figure.techniques() == SELECTIONS for figure in measured_figures[2:6])
    assert all(figure.techniques() == ["SJ-Join", "IBS-JS", "shipped"] for figure in measured_figures[6:])
    assert all(any(name.startswith("shipped") for name in figure.techniques()) for figure in measured_figures[:2])


def test_every_point_has_a_time(measured_figures):
    across = {"duality_figure15_4": [100, 300], "duality_figure16": [0.25, 1.0], "duality_figure17": [0.0, 1.0]}
    for figure in measured_figures:
        assert all(row["microseconds"] > 0 for row in figure.table.to_pylist())
        if figure.name in across:
            assert all(figure.line(name, "pairs")[0] == across[figure.name] for name in SELECTIONS)


def test_clusters_are_some_of_those_that_were_tried(measured_figures):
    assert set(measured_figures[0].line("4 attributes", "cluster")[1]) <= {5, 30}
    assert set(measured_figures[5].line("SJ-Batch", "cluster")[1]) <= {5, 30}
    assert set(measured_figures[2].line("SJ-Batch", "cluster")[1]) == {
        measured_figures[0].at_largest("4 attributes", "cluster")
    }


def test_more_conditions_are_true_less_often(measured_figures):
    (figure,) = (figure for figure in measured_figures if figure.name == "duality_figure16")
    few, many = figure.line("shipped", "pairs")[1]
    assert many < few


def test_figures_are_written_and_stand_in_the_report(measured_figures, tmp_path):
    for figure in measured_figures:
        write_figure(figure, tmp_path)
        assert (tmp_path / f"{figure.name}.png").read_bytes().startswith(b"\x89PNG")
        assert (tmp_path / f"{figure.name}.csv").read_text().count("\n") == figure.table.num_rows + 1
    write_report(measured_figures, tmp_path, "skerry reproduce duality")
    report = (tmp_path / "report.md").read_text()
    assert all(verdict.claim in report for figure in measured_figures for verdict in figure.verdicts)


@pytest.mark.parametrize("extent", [FULL, QUICK])
def test_points_go_as_far_as_the_papers(extent):
    assert (extent.batches[0], extent.batches[-1], extent.query_counts[-1]) == (2_000, 10_000, 100_000)
    assert (extent.bounded[-1], extent.skews[-1], extent.windows) == (8, 1.0, (100, 1_000, 10_000))
