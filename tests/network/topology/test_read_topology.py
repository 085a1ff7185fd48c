from math import dist

import pytest

from skerry.errors import InputError
from skerry.network.topology.read_topology import read_topology


@pytest.mark.parametrize(
    ("text", "size"),
    [("grid:3x4", 12), ("geometric:40:0.4:2", 40), ("holes:60:0.3", 60), ("tree:15:2", 15), ("tree:9:3:1", 9)],
)
def test_topologies_are_connected_and_go_both_ways(text, size):
    found = read_topology(text)
    assert len(found) == size
    assert found.is_connected
    links = set(found.links)
    assert links == {(other, one) for one, other in links}


def test_geometric_links_are_all_pairs_within_range():
    found = read_topology("geometric:60:0.3:5")
    near = {
        (a, b) for a in range(60) for b in range(60) if a != b and dist(found.positions[a], found.positions[b]) <= 0.3
    }
    assert set(found.links) == near


def test_seed_draws_another_field_and_the_same_again():
    assert read_topology("geometric:50:0.3:1") == read_topology("geometric:50:0.3:1")
    assert read_topology("geometric:50:0.3:1") != read_topology("geometric:50:0.3:2")


def test_drawn_tree_keeps_its_fan_out():
    found = read_topology("tree:60:2:3")
    assert sum(1 for _ in found.links) == 2 * 59
    assert all(len(others) <= 3 for others in found.neighbours)


@pytest.mark.parametrize(
    "text",
    [
        "grid:3",
        "grid:0x3",
        "grid:-1x3",
        "geometric:x:1",
        "geometric:50",
        "tree:5",
        "tree:1:2:3:4",
        "file:",
        "grid:3x3x3",
    ],
)
def test_wrong_text_is_refused_with_the_form(text):
    with pytest.raises(InputError, match=r"is written \w+:"):
        read_topology(text)


def test_range_too_short_to_connect_is_refused():
    with pytest.raises(InputError, match="try a longer one"):
        read_topology("geometric:100:0.01")


def test_more_motes_than_can_be_simulated_are_refused():
    with pytest.raises(InputError, match="more than can be simulated"):
        read_topology("grid:100000x100000")
