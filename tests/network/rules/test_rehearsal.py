"""Rehearsals: the cheapest way to join is run until its mean is known, the others no longer than that."""

import pytest

from skerry.experiments.deductive.programs import write_program
from skerry.network.radio_settings import RadioSettings
from skerry.network.rules import rehearsal
from skerry.network.rules.run import simulate
from skerry.network.topology.grid import make_grid

GRID = make_grid(5, 5)


@pytest.fixture
def runs(monkeypatch):
    """How many runs were begun, by strategy."""
    begun = {}

    class Counted(rehearsal.RuleNetwork):
        def __init__(self, network, routes, strategy, *rest):
            begun[strategy] = begun.get(strategy, 0) + 1
            super().__init__(network, routes, strategy, *rest)

    monkeypatch.setattr(rehearsal, "RuleNetwork", Counted)
    return begun


def rehearse(loss, name="logicJ", order="stage"):
    none = {"H": []}
    program = write_program(name, 12, 8)
    run = simulate(program, None, GRID, strategy="auto", order=order, radio=RadioSettings(loss=loss), expected=none)
    return run.estimates


def test_without_loss_a_second_run_shows_that_delays_do_not_matter(runs):
    assert rehearse(0.0)["broadcast"] == 25
    assert runs == {"broadcast": 2, "local": 1, "perpendicular": 1}


def test_dearer_ways_are_broken_off(runs):
    estimates = rehearse(0.0)
    assert estimates["local"] == estimates["perpendicular"] == float("inf")


@pytest.mark.parametrize("order", ["stage", "arrival"])
def test_under_loss_the_prediction_is_a_mean(runs, order):
    predicted = rehearse(0.3, "logicH", order)["broadcast"]
    assert 3 <= runs["broadcast"] <= 16
    program, settings = write_program("logicH", 12, 8), RadioSettings(loss=0.3)
    seen = [
        simulate(program, None, GRID, radio=settings, seed=seed, order=order, expected={"H": []}).tally.total
        for seed in range(50, 60)
    ]
    assert predicted == pytest.approx(sum(seen) / len(seen), rel=0.15)


def test_what_was_cheap_by_luck_is_tried_until_its_mean_is_known():
    """Three lucky runs of perpendicular had been enough to take it, once broadcast was known."""
    program, none, settings = write_program("logicJ", 8, 6, 4), {"H": []}, RadioSettings(loss=0.2)
    chosen = simulate(program, None, make_grid(4, 4), strategy="auto", radio=settings, seed=120, expected=none)
    assert chosen.strategy == "broadcast"
