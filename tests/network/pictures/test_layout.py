import numpy as np
import pytest
from hypothesis import given

from skerry.network.pictures.layout import lay_out
from skerry.network.topology.read_topology import read_topology
from skerry.network.topology.topology import Topology
from tests.rivals.network.fields import topologies


@given(topology=topologies())
def test_every_mote_has_a_point_in_the_square_of_its_own(topology):
    points = lay_out(topology)
    assert points.shape == (len(topology), 2)
    assert ((points >= -1e-9) & (points <= 1 + 1e-9)).all()
    assert len({(round(x, 6), round(y, 6)) for x, y in points.tolist()}) == len(topology)


def test_positions_that_are_known_are_kept_in_proportion():
    field = Topology.of_links(3, [], positions=[(10.0, 10.0), (30.0, 10.0), (10.0, 20.0)])
    assert lay_out(field).tolist() == [[0.0, 0.25], [1.0, 0.25], [0.0, 0.75]]


@pytest.mark.parametrize("text", ["grid:6x6", "grid:30x30"])
def test_without_positions_neighbours_are_drawn_nearer_than_others(text):
    points = lay_out(topology := Topology(read_topology(text).neighbours))
    apart = np.linalg.norm(points[:, None] - points[None], axis=2)
    linked = [apart[link] for link in topology.links]
    assert np.mean(linked) < 0.5 * apart.mean()


def test_layout_is_the_same_again():
    tree = Topology(read_topology("tree:40:3").neighbours)
    assert (lay_out(tree) == lay_out(tree)).all()
