import numpy as np
import pytest

from skerry.experiments.duality.workload import Queries, make_join_queries, make_points, make_queries, quarter_codes
from skerry.kernels.index.grid import GREATEST, LEAST
from skerry.rivals.query_index.brute_force import brute_force


def test_elements_are_uniform_or_crowded_into_a_tenth_of_each_attribute():
    uniform, half, crowded = (make_points(4_000, 3, skew).view(np.float64) for skew in (0.0, 0.5, 1.0))
    inside = [((values >= 0.161) & (values <= 0.261)).all(axis=0).mean() for values in (uniform, half, crowded)]
    assert inside == pytest.approx([0.001, 0.5, 1.0], abs=0.03)
    assert uniform.mean(axis=1) == pytest.approx([0.5] * 3, abs=0.03)


@pytest.mark.parametrize("bounded", [1, 3, 5])
def test_queries_have_conditions_on_so_many_attributes_of_all_kinds(bounded):
    lows, highs = make_queries(Queries(3_000, 5, bounded))
    below, above = lows > LEAST, highs < GREATEST
    assert ((below | above).sum(axis=0) == bounded).all()
    kinds = [(below & ~above).sum(), (above & ~below).sum(), (below & above).sum()]
    assert np.array(kinds) / (3_000 * bounded) == pytest.approx([1 / 3] * 3, abs=0.04)
    assert (below.mean(axis=1) > 0.5 * below.mean()).all()


def test_a_condition_is_true_as_often_for_a_crowd_as_for_uniform_elements():
    boxes = make_queries(Queries(2_000, 4, 4))
    uniform, crowded = (brute_force(*boxes, make_points(500, 4, skew))[0].size for skew in (0.0, 1.0))
    assert crowded == pytest.approx(uniform, rel=0.15)


def test_join_queries_have_all_conditions_and_one_window():
    found = make_join_queries(500, 2, 30)
    assert len({tuple(each) for each in found.conditions.T.tolist()}) == 5
    assert (found.windows == 30).all()
    assert found.lows.shape == (4, 500)


def test_conditions_are_cut_at_quarters():
    assert quarter_codes().view(np.float64).tolist() == [0.25, 0.5, 0.75]
