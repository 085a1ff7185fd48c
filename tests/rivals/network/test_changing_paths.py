import pytest
from hypothesis import given
from hypothesis import strategies as st

from skerry.errors import InputError
from skerry.network.radio import RadioSettings
from skerry.network.topology.grid import make_grid
from skerry.network.topology.topology import Topology
from skerry.rivals.network.changing_paths import LinkChange, apply_change, find_changing_paths
from skerry.rivals.network.found_paths import list_last_steps
from skerry.rivals.network.shortest_paths import find_shortest_paths
from tests.rivals.network.fields import topologies

SETTINGS = RadioSettings()


def flip_links(topology: Topology, flips: list[tuple[int, int, int]]) -> tuple[list[LinkChange], Topology]:
    """Changes, one after the other, and the topology that they end in."""
    changes, time_us = [], 0
    for wait_us, one, other in flips:
        one, other, time_us = one % len(topology), other % len(topology), time_us + wait_us
        if one != other:
            changes.append(LinkChange(time_us, one, other, other not in topology.neighbours[one]))
            topology = apply_change(topology, changes[-1])
    return changes, topology


@given(
    topology=topologies(most=8),
    flips=st.lists(st.tuples(st.integers(0, 50_000), st.integers(0, 7), st.integers(0, 7)), max_size=12),
    seed=st.integers(0, 99),
)
def test_search_ends_exact_whatever_links_did(topology, flips, seed):
    changes, after = flip_links(topology, flips)
    found = find_changing_paths(topology, changes, 0, SETTINGS, seed, limit=8)
    assert [-1 if each is None else each for each in found.distances] == list(after.distances_from(0))
    assert found.last_steps == list_last_steps(after, 0)


def test_where_no_link_changes_it_costs_what_the_plain_search_costs():
    plain = find_shortest_paths(make_grid(7, 7), 24, SETTINGS, seed=3)
    assert find_changing_paths(make_grid(7, 7), [], 24, SETTINGS, seed=3).tally.by_mote == plain.tally.by_mote


def test_change_that_changes_nothing_is_refused():
    with pytest.raises(InputError, match="the link between 0 and 3 is not there"):
        apply_change(make_grid(2, 2), LinkChange(0, 3, 0, up=False))
    with pytest.raises(InputError, match="the link between 0 and 1 is there already"):
        apply_change(make_grid(2, 2), LinkChange(0, 0, 1, up=True))
