import pytest
from hypothesis import given
from hypothesis import strategies as st

from skerry.errors import LimitError
from skerry.kernels.joins.tree import Tree, climb
from tests.kernels.tuples import arrivals, packed, rows
from tests.oracles import rivals
from tests.oracles.rivals import Arrival

partitions = st.sampled_from([1, 4, 16])


def join(tree, tuples, limit=10**6):
    return rows(climb(tree, packed(tuples, tree.stream_count), limit, tree.stream_count))


@given(arrivals(), partitions)
def test_tree_agrees_with_nested_loops(drawn, partition_count):
    stream_count, tuples = drawn
    assert join(Tree.of(stream_count, partition_count), tuples) == rivals.complete(tuples, stream_count)


@given(arrivals(max_streams=4), partitions)
def test_tree_holds_the_results_of_the_levels_below_the_root(drawn, partition_count):
    stream_count, tuples = drawn
    tree = Tree.of(stream_count, partition_count)
    join(tree, tuples)
    below = [rivals.complete(tuples, streams) for streams in range(2, stream_count)]
    assert tree.chains.entry_count == (len(tuples) if stream_count > 1 else 0) + sum(map(len, below))


@given(arrivals(), partitions, st.integers(0, 25))
def test_without_the_last_level_nothing_comes_out_but_all_is_kept(drawn, partition_count, position):
    stream_count, tuples = drawn
    tree = Tree.of(stream_count, partition_count)
    quiet = climb(tree, packed(tuples[:position], stream_count), 10**6, stream_count - 1)
    before = rivals.complete(tuples[:position], stream_count)
    assert quiet.shape == (0, stream_count)
    assert sorted(join(tree, tuples[position:]) + before) == rivals.complete(tuples, stream_count)


def test_tuple_for_which_there_was_no_room_is_taken_again():
    tuples = [Arrival(row % 3, 7, row, row + 10**6, row) for row in range(150)]
    tree = Tree.of(3, 1)
    assert len(join(tree, tuples)) == 50**3
    assert tree.chains.entry_count == 150 + 50**2


def test_hot_key_beyond_the_limit_fails_before_it_is_spelled_out():
    tuples = [Arrival(row % 2, 7, row, row + 10**6, row) for row in range(5000)]
    with pytest.raises(LimitError, match=r"at least 1[0-9]{4} combinations at once, the limit is 10000"):
        join(Tree.of(2, 1), tuples, limit=10_000)


def test_partial_results_have_the_same_limit():
    tuples = [Arrival(row % 2, 7, row, row + 10**6, row) for row in range(5000)]
    with pytest.raises(LimitError, match="combinations and partial results at once, the limit is 10000"):
        join(Tree.of(3, 1), tuples, limit=10_000)


def test_results_of_one_tuple_that_do_not_fit_are_refused_before_there_is_room():
    tree = Tree.of(3, 1)
    climb(tree, packed([Arrival(1 + row % 2, 7, 0, 9, row) for row in range(2000)], 3), 10**6, 3)
    with pytest.raises(LimitError, match="partial results at once, the limit is 5000"):
        join(tree, [Arrival(0, 7, 0, 9, 0)], limit=5000)
    assert tree.chains.pool.size < 20_000
