import pytest

from skerry.errors import InputError
from skerry.network.routing.rows_and_columns import GridRouter
from skerry.network.topology.grid import make_grid


def test_routes_are_shortest_and_follow_links():
    grid = make_grid(4, 5)
    routers = [GridRouter(4, 5, mote) for mote in range(20)]
    for start in range(20):
        for target, hops in enumerate(grid.distances_from(start)):
            here, taken = start, 0
            while (hop := routers[here].next_hop(target)) is not None:
                assert hop in grid.neighbours[here]
                here, taken = hop, taken + 1
            assert (here, taken) == (target, hops)


def test_mote_outside_the_grid_is_refused():
    with pytest.raises(InputError, match="no mote 20"):
        GridRouter(4, 5, 20)
