import gzip

import pytest

from skerry.experiments.figure import Figure
from skerry.experiments.report import write_figure, write_report
from skerry.experiments.shedding.figures import FULL, QUICK, Extent, measure_extent
from skerry.experiments.shedding.figures5_to_8_unique_values import measure_by_memory
from skerry.experiments.shedding.web_log import LOG, PAGES
from skerry.experiments.shedding.workload import Workload
from skerry.shedding.bounded_join import POLICIES

TINY = Extent(
    seeds=2,
    memories=(10, 20),
    alphas=(0.0, 2.0),
    rates=(10.0,),
    stream_counts=(3,),
    order_counts=(10,),
    variances=(15,),
    real_memories=(2,),
    tuple_count=300,
    repeating_count=300,
    timed_count=300,
)
NAMES = ["figure5", "figure6", "figure7", "figure8", "drift", "orders", "figure9a", "figure9b", "figure10"]
REAL = ["figure11", "figure11_hosts"]


@pytest.fixture(scope="module")
def measured_figures(tmp_path_factory) -> list[Figure]:
    data = tmp_path_factory.mktemp("data")
    (data / LOG).parent.mkdir()
    lines = [
        f'host{number % 7} - - [01/Aug/1995:00:00:{number:02} -0400] "GET {PAGES[number % 4]} HTTP/1.0" 200 1'
        for number in range(60)
    ]
    (data / LOG).write_bytes(gzip.compress("\n".join(lines).encode()))
    return list(measure_extent(TINY, lambda progress: None, data))


def test_all_figures_are_measured_and_judged(measured_figures):
    assert [figure.name for figure in measured_figures] == [f"shedding_{name}" for name in NAMES + REAL]
    assert all(figure.verdicts and figure.notes for figure in measured_figures)


def test_every_policy_is_drawn_beside_one_that_knows_the_future(measured_figures):
    for figure in measured_figures[:6]:
        assert figure.techniques() == [*POLICIES, "optimum", "unshed"]
    assert all(figure.techniques() == [*POLICIES, "foresight"] for figure in measured_figures[8:])


def test_spread_over_seeds_holds_the_mean(measured_figures):
    for row in measured_figures[0].table.to_pylist():
        assert row["least"] <= row["answers"] <= row["most"]
        assert row["seeds"] == 2


def test_share_of_the_best_leaves_a_policy_itself_out():
    figure = measure_by_memory([50], 1, Workload(tuple_count=600), lambda progress: None)
    answers = {row["technique"]: row["answers"] for row in figure.table.to_pylist()}
    for row in figure.table.to_pylist():
        best = max(answers[policy] for policy in POLICIES if policy != row["technique"])
        assert row["of_best"] == pytest.approx(row["answers"] / best, abs=0.001)


def test_nobody_gives_more_answers_than_there_are(measured_figures):
    for figure in measured_figures[:6]:
        for technique in (*POLICIES, "optimum"):
            pairs = zip(figure.line(technique, "most")[1], figure.line("unshed", "most")[1], strict=True)
            assert all(given <= there for given, there in pairs)


def test_figures_are_written_with_their_bands(measured_figures, tmp_path):
    for figure in measured_figures:
        write_figure(figure, tmp_path)
        assert (tmp_path / f"{figure.name}.png").read_bytes().startswith(b"\x89PNG")
    write_report(measured_figures, tmp_path, "skerry reproduce shedding")
    assert all(figure.title in (tmp_path / "report.md").read_text() for figure in measured_figures)


def test_figure_without_its_data_is_said_to_be_left_out():
    messages: list[str] = []
    measured_figures = list(measure_extent(TINY, messages.append, None))
    assert [figure.name for figure in measured_figures] == [f"shedding_{name}" for name in NAMES]
    assert measured_figures[-1].notes[-1].startswith("Figure 11 is left out: there is no web_nasa_http")
    assert measured_figures[-1].notes[-1] in messages


@pytest.mark.parametrize("extent", [FULL, QUICK])
def test_points_go_as_far_as_the_papers(extent):
    assert (extent.memories[0], extent.memories[-1]) == (100, 500)
    assert (extent.alphas[-1], extent.rates[-1], extent.stream_counts[-1], extent.variances[-1]) == (2.0, 25.0, 7, 35)
