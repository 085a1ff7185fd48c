import numpy as np
import pytest

from skerry.sources.sim.stateless_random import draw_bell, draw_uniform, make_keys

MOMENTS, PLACES = np.arange(-500, 500), np.arange(100)


def test_draw_depends_on_moment_and_place_not_on_what_else_is_drawn():
    whole = make_keys(1, "vehicle", MOMENTS, PLACES)
    part = make_keys(1, "vehicle", MOMENTS[37:40], PLACES[5:9])
    assert (whole[37:40, 5:9] == part).all()


def test_keys_do_not_repeat():
    assert np.unique(make_keys(1, "vehicle", MOMENTS, PLACES)).size == MOMENTS.size * PLACES.size


@pytest.mark.parametrize("other", [(2, "vehicle"), (1, "line")])
def test_other_seeds_and_purposes_draw_other_numbers(other):
    ours = draw_uniform(make_keys(1, "vehicle", MOMENTS, PLACES), 0).ravel()
    theirs = draw_uniform(make_keys(*other, MOMENTS, PLACES), 0).ravel()
    assert abs(np.corrcoef(ours, theirs)[0, 1]) < 0.01


def test_uniform_draws_fill_their_range_evenly():
    drawn = draw_uniform(make_keys(1, "vehicle", MOMENTS, PLACES), 3)
    counts = np.histogram(drawn, bins=10, range=(0, 1))[0]
    assert counts.sum() == drawn.size
    assert abs(counts / drawn.size - 0.1).max() < 0.005


def test_neighbours_in_time_and_place_are_independent():
    drawn = draw_uniform(make_keys(1, "vehicle", MOMENTS, PLACES), 0)
    assert abs(np.corrcoef(drawn[1:].ravel(), drawn[:-1].ravel())[0, 1]) < 0.01
    assert abs(np.corrcoef(drawn[:, 1:].ravel(), drawn[:, :-1].ravel())[0, 1]) < 0.01


def test_bell_has_mean_zero_deviation_one_and_no_tails():
    drawn = draw_bell(make_keys(1, "vehicle", MOMENTS, PLACES), 0)
    assert abs(drawn.mean()) < 0.02
    assert abs(drawn.std() - 1) < 0.01
    assert abs(drawn).max() <= 3
