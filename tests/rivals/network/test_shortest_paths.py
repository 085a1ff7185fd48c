import pytest
from hypothesis import given
from hypothesis import strategies as st

from skerry.errors import InputError
from skerry.network.radio import RadioSettings
from skerry.network.topology.grid import make_grid
from skerry.rivals.network.found_paths import list_last_steps
from skerry.rivals.network.shortest_paths import find_shortest_paths
from tests.rivals.network.fields import topologies

SETTINGS = RadioSettings()


@given(topology=topologies(), seed=st.integers(0, 99), root=st.integers(0, 11))
def test_search_is_exact_without_loss(topology, seed, root):
    root %= len(topology)
    found = find_shortest_paths(topology, root, SETTINGS, seed)
    assert [-1 if each is None else each for each in found.distances] == list(topology.distances_from(root))
    assert found.last_steps == list_last_steps(topology, root)


@given(topology=topologies(), seed=st.integers(0, 99), loss=st.floats(0, 1))
def test_lossy_search_never_finds_a_way_too_short_and_sends_at_least_the_first_message(topology, seed, loss):
    found = find_shortest_paths(topology, 0, RadioSettings(loss=loss), seed)
    hops = topology.distances_from(0)
    assert all(own is None or own >= true >= 0 for own, true in zip(found.distances, hops, strict=True))
    assert found.tally.total >= 1


def test_every_mote_speaks_once_if_all_hops_take_equally_long():
    found = find_shortest_paths(make_grid(7, 7), 24, RadioSettings(10_000, 10_000))
    assert found.tally.by_mote == [1] * 49


def test_what_was_missed_and_what_is_wrong_is_counted():
    grid = make_grid(5, 5)
    true_steps = list_last_steps(grid, 12)
    found = find_shortest_paths(grid, 12, RadioSettings(loss=0.3), seed=1)
    assert found.count_missed(true_steps) == len(true_steps) - len(true_steps & found.last_steps) > 0
    assert found.count_wrong(true_steps) == len(found.last_steps) - len(true_steps & found.last_steps)


def test_mote_keeps_no_more_than_a_distance_per_neighbour():
    assert find_shortest_paths(make_grid(7, 7), 24, SETTINGS).most_kept == 4


def test_root_that_is_not_there_is_refused():
    with pytest.raises(InputError, match="one of the motes 0 to 3; got 4"):
        find_shortest_paths(make_grid(2, 2), 4, SETTINGS)
