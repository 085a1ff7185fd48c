"""Every walk meets a mote that stores the tuples of every source in range."""

import pytest

from skerry.network.rules.crossings import find_crossings
from skerry.network.rules.routes import find_routes
from skerry.network.topology.grid import make_grid
from skerry.network.topology.read_topology import read_topology

TOPOLOGIES = [make_grid(4, 6), *map(read_topology, ("geometric:40:0.25:3", "holes:60:0.25:1", "tree:30:3"))]


@pytest.mark.parametrize("reach", [None, 1, 2, 4])
@pytest.mark.parametrize("topology", TOPOLOGIES, ids=lambda topology: topology.name)
def test_every_pair_in_range_meets(topology, reach):
    routes = find_routes(topology)
    crossings = find_crossings(topology, routes, reach)
    for source, table in enumerate(routes):
        for other, hops in enumerate(table.hops):
            if hops >= 0 and (reach is None or hops <= reach):
                assert any(other in crossings[mote].keeps for mote in crossings[source].walk)


def test_on_a_grid_rows_store_and_columns_join():
    crossings = find_crossings(make_grid(3, 4), find_routes(make_grid(3, 4)), None)
    assert crossings[5].walk == (9, 5, 1)
    assert [mote for mote, each in enumerate(crossings) if 5 in each.keeps] == [4, 5, 6, 7]
