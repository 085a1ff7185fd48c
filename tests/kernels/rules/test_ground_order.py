import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skerry.errors import KernelError
from skerry.kernels.rules.ground_order import find_order

edges = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=20)


def order(count, pairs):
    nodes, needs = np.array(pairs, np.int64).reshape(-1, 2).T
    return find_order(count, nodes.copy(), needs.copy())


@given(edges)
def test_parts_are_the_nodes_that_need_each_other_and_levels_the_longest_way_down(pairs):
    reach = [{node} for node in range(8)]
    for _ in range(8):
        reach = [found | {far for near, far in pairs if near in found} for found in reach]
    together = [frozenset(far for far in reach[node] if node in reach[far]) for node in range(8)]
    levels = dict.fromkeys(together, 0)
    for _ in range(8):
        for near, far in pairs:
            if together[near] != together[far]:
                levels[together[near]] = max(levels[together[near]], levels[together[far]] + 1)
    found = order(8, pairs)
    assert [frozenset(np.flatnonzero(found.parts == part).tolist()) for part in found.parts] == together
    assert found.levels.tolist() == [levels[part] for part in together]


def test_a_long_chain_is_no_deep_recursion():
    chain = np.arange(100_000)
    assert find_order(100_001, chain, chain + 1).levels[0] == 100_000


def test_a_node_without_its_need_is_refused():
    with pytest.raises(KernelError, match="differ in length: 1 2"):
        find_order(2, np.zeros(1, np.int64), np.zeros(2, np.int64))
