import gzip

import pytest

from skerry.experiments.figure import Figure
from skerry.experiments.report import write_figure, write_report
from skerry.experiments.shedding.figures import FULL, QUICK, Extent, figures_of
from skerry.experiments.shedding.unique import by_memory
from skerry.experiments.shedding.weblog import LOG, PAGES
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
def drawn(tmp_path_factory) -> list[Figure]:
    data = tmp_path_factory.mktemp("data")
    (data / LOG).parent.mkdir()
    lines = [
        f'host{number % 7} - - [01/Aug/1995:00:00:{number:02} -0400] "GET {PAGES[number % 4]} HTTP/1.0" 200 1'
        for number in range(60)
    ]
    (data / LOG).write_bytes(gzip.compress("\n".join(lines).encode()))
    return list(figures_of(TINY, lambda progress: None, data))


def test_all_figures_are_measured_and_judged(drawn):
    assert [figure.name for figure in drawn] == [f"shedding_{name}" for name in NAMES + REAL]
    assert all(figure.verdicts and figure.notes for figure in drawn)


def test_every_policy_is_drawn_beside_one_that_knows_the_future(drawn):
    for figure in drawn[:6]:
        assert figure.techniques() == [*POLICIES, "optimum", "unshed"]
    assert all(figure.techniques() == [*POLICIES, "foresight"] for figure in drawn[8:])


def test_spread_over_seeds_holds_the_mean(drawn):
    for row in drawn[0].table.to_pylist():
        assert row["least"] <= row["answers"] <= row["most"]
        assert row["seeds"] == 2


def test_share_of_the_best_leaves_a_policy_itself_out():
    figure = by_memory([50], 1, Workload(tuple_count=600), lambda progress: None)
    answers = {row["technique"]: row["answers"] for row in figure.table.to_pylist()}
    for row in figure.table.to_pylist():
        best = max(answers[policy] for policy in POLICIES if policy != row["technique"])
        assert row["of_best"] == pytest.approx(row["answers"] / best, abs=0.001)


def test_nobody_gives_more_answers_than_there_are(drawn):
    for figure in drawn[:6]:
        for technique in (*POLICIES, "optimum"):
            pairs = zip(figure.line(technique, "most")[1], figure.line("unshed", "most")[1], strict=True)
            assert all(given <= there for given, there in pairs)


def test_figures_are_written_with_their_bands(drawn, tmp_path):
    for figure in drawn:
        write_figure(figure, tmp_path)
        assert (tmp_path / f"{figure.name}.png").read_bytes().startswith(b"\x89PNG")
    write_report(drawn, tmp_path, "skerry reproduce shedding")
    assert all(figure.title in (tmp_path / "report.md").read_text() for figure in drawn)


def test_figure_without_its_data_is_said_to_be_left_out():
    told: list[str] = []
    drawn = list(figures_of(TINY, told.append, None))
    assert [figure.name for figure in drawn] == [f"shedding_{name}" for name in NAMES]
    assert drawn[-1].notes[-1].startswith("Figure 11 is left out: there is no web_nasa_http")
    assert drawn[-1].notes[-1] in told


@pytest.mark.parametrize("extent", [FULL, QUICK])
def test_places_go_as_far_as_the_papers(extent):
    assert (extent.memories[0], extent.memories[-1]) == (100, 500)
    assert (extent.alphas[-1], extent.rates[-1], extent.stream_counts[-1], extent.variances[-1]) == (2.0, 25.0, 7, 35)
