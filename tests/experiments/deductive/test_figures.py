import csv

import pytest

from skerry.experiments.deductive.figures import FULL, QUICK, Extent, measure_extent
from skerry.experiments.deductive.grid_runs import TECHNIQUES
from skerry.experiments.figure import Figure, Outcome
from skerry.experiments.report import write_figure

TINY = Extent(sides=(3, 4), losses=(0.0, 0.1, 0.2), seeds=2, factors=(1, 2), factor_side=3)
NAMES = ["figure4_3x3", "figure4_4x4", "figure5_loss0", "figure5_loss10", "figure5_loss20", "figure6", "memory"]


@pytest.fixture(scope="module")
def figures() -> dict[str, Figure]:
    return {figure.name: figure for figure in measure_extent(TINY, lambda progress: None)}


def test_all_figures_are_measured_and_judged(figures):
    assert list(figures) == [f"deductive_{name}" for name in NAMES]
    assert all(figure.verdicts and figure.notes for figure in figures.values())


def test_nothing_is_missed_without_loss(figures):
    for technique in TECHNIQUES:
        assert figures["deductive_figure4_4x4"].line(technique, "missed")[1][0] == 0.0
    claims = [each for each in figures["deductive_figure4_4x4"].verdicts if "without loss" in each.claim]
    assert [each.outcome for each in claims] == [Outcome.HOLDS]


def test_messages_are_tabulated_by_the_number_of_motes(figures):
    motes, messages = figures["deductive_figure5_loss0"].line("logicJ by stage", "messages")
    assert motes == [9, 16]
    assert messages == [9.0, 16.0]  # once per mote: each J is inserted once and never deleted


def test_both_ways_to_join_are_counted_with_and_without_results(figures):
    figure = figures["deductive_figure6"]
    assert figure.techniques() == ["broadcast", "perpendicular"]
    assert figure.line("broadcast", "messages_per_mote") == ([1, 2], figure.line("broadcast", "joining_per_mote")[1])
    everything, joining = (figure.line("perpendicular", name)[1] for name in ("messages_per_mote", "joining_per_mote"))
    assert all(low <= high for low, high in zip(joining, everything, strict=True))


def test_figures_are_written(figures, tmp_path):
    for figure in figures.values():
        write_figure(figure, tmp_path)
    with (tmp_path / "deductive_figure4_3x3.csv").open() as file:
        assert {row["runs"] for row in csv.DictReader(file)} == {"2"}


@pytest.mark.parametrize("extent", [FULL, QUICK])
def test_extents_have_what_claims_are_about(extent):
    assert {0.0, 0.1} | set(extent.compared) <= set(extent.losses)
    assert 7 in extent.sides


def test_full_extent_is_the_papers():
    assert (FULL.sides, FULL.losses[0], FULL.losses[-1]) == ((5, 7, 10), 0.0, 0.3)
    assert FULL.seeds >= 30
