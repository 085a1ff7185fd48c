import json

import pytest

from skerry.experiments.figure import Figure
from skerry.experiments.report import write_figure, write_report
from skerry.experiments.snjoin.figure4_probing_sequences import SequenceCourse
from skerry.experiments.snjoin.figure8_distributed_join import StarCourse
from skerry.experiments.snjoin.figure9_regions import RegionCourse
from skerry.experiments.snjoin.figures import FULL, QUICK, Extent, measure_extent
from skerry.experiments.snjoin.harness import Settings
from skerry.experiments.snjoin.measure_sizes import Course
from skerry.model.time import seconds
from skerry.operators.joins.make_technique import TECHNIQUES

BRIEFLY = Settings(slowdown=1, warm_up_us=seconds(1))
TINY = Extent(
    SequenceCourse((4,), 62),
    Course((2, 3), 4, BRIEFLY),
    (1.0, 2.0),
    Course((2, 3), 3, BRIEFLY),
    Course((5, 10), 4, BRIEFLY),
    Course((10,), 70, BRIEFLY),
    StarCourse((20, 40), 63),
    RegionCourse(20, 63, (1, 2)),
)
APART = ("figure5_overload", "disk_support", "figure9_regions")


@pytest.fixture(scope="module")
def measured_figures() -> list[Figure]:
    return list(measure_extent(TINY, lambda progress: None))


def test_all_figures_are_measured_and_judged(measured_figures):
    judged = [figure for figure in measured_figures if figure.name not in APART]
    assert [figure.name for figure in judged] == [f"figure{number}" for number in range(4, 10)]
    assert all(figure.verdicts for figure in judged if figure.name != "figure9")  # the paper has no such sizes


def test_overload_is_drawn_apart_and_says_where_the_order_holds(measured_figures):
    (figure,) = (figure for figure in measured_figures if figure.name == "figure5_overload")
    assert figure.line("mjoin", "drop_percent")[0] == [1.0, 2.0]
    assert figure.notes[0].endswith("of 1.0, 2.0.")


def test_complete_join_has_all_techniques_at_all_sizes(measured_figures):
    assert measured_figures[1].techniques() == list(TECHNIQUES)
    assert measured_figures[1].table.num_rows == len(TECHNIQUES) * 2


def test_techniques_give_the_same_answers_while_none_drops_any(measured_figures):
    for figure in measured_figures[3:5]:
        kept = [row for row in figure.table.to_pylist() if row["sensors"] == 10 and row["drop_percent"] == 0]
        rates = [row["answers_per_s"] for row in kept]
        assert max(rates) - min(rates) < 0.2 * max(rates)


def test_every_figure_writes_its_files_and_stands_in_the_report(measured_figures, tmp_path):
    for figure in measured_figures:
        write_figure(figure, tmp_path)
    write_report(measured_figures, tmp_path, "skerry reproduce snjoin")
    report, summary = (tmp_path / "report.md").read_text(), json.loads((tmp_path / "summary.json").read_text())
    for figure, summarised in zip(measured_figures, summary["figures"], strict=True):
        assert (tmp_path / f"{figure.name}.png").read_bytes().startswith(b"\x89PNG")
        assert (tmp_path / f"{figure.name}.csv").read_text().count("\n") == figure.table.num_rows + 1
        assert [verdict["claim"] for verdict in summarised["verdicts"]] == [of.claim for of in figure.verdicts]
        assert all(verdict.claim in report for verdict in figure.verdicts)


@pytest.mark.parametrize("extent", [FULL, QUICK])
def test_sizes_go_as_far_as_the_papers(extent):
    assert extent.complete.sizes[-1] == 20
    assert extent.variable_arity.sizes[-1] == extent.dynamic.sizes[-1] == 2_000


def test_the_join_in_the_network_is_measured_at_all_sizes_of_the_paper():
    assert FULL.distributed.sizes == tuple(range(200, 2_001, 200))
