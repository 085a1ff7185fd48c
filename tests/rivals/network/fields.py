"""Random topologies, connected or not, for tests of what runs on motes."""

from hypothesis import strategies as st

from skerry.network.topology.topology import Topology


@st.composite
def topologies(draw, most: int = 12) -> Topology:
    size = draw(st.integers(1, most))
    pairs = [(one, other) for one in range(size) for other in range(one)]
    links = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    return Topology.of_links(size, links)
