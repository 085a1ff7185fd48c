"""The middle is that of a look around from every mote."""

from hypothesis import given
from hypothesis import strategies as st

from skerry.network.topology.find_middle import find_middle
from skerry.network.topology.grid import make_grid
from skerry.network.topology.topology import Topology

pairs = st.lists(st.tuples(st.integers(0, 19), st.integers(0, 19)), max_size=20)


def find_slowly(topology):
    hops = [topology.distances_from(mote) for mote in range(len(topology))]
    return min(range(len(topology)), key=lambda mote: (max(hops[mote]), sum(hops[mote]), mote))


@given(st.lists(st.floats(0, 1, exclude_max=True), max_size=19), pairs)
def test_agrees_with_a_look_around_from_every_mote(parents, more):
    size = len(parents) + 1
    links = [(mote, int(share * mote)) for mote, share in enumerate(parents, 1)]
    links += [(one, other) for one, other in more if one != other and max(one, other) < size]
    topology = Topology.of_links(size, links)
    assert find_middle(topology) == find_slowly(topology)


def test_few_look_around(monkeypatch):
    looked = []
    look = Topology.distances_from
    monkeypatch.setattr(Topology, "distances_from", lambda self, mote: looked.append(mote) or look(self, mote))
    assert find_middle(make_grid(40, 40)) == 19 * 40 + 19
    assert len(looked) < 20


def test_without_links_there_is_no_middle():
    assert find_middle(Topology.of_links(3, [])) == 0
