import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from skerry.operators.joins.flush_policies import LargestPartition, LargestStream, StreamAfterStream, make_flush_policy
from skerry.operators.joins.make_technique import TECHNIQUES

tables = st.integers(1, 4).flatmap(
    lambda streams: st.lists(st.lists(st.integers(0, 9), min_size=streams, max_size=streams), min_size=1, max_size=5)
)


@pytest.mark.parametrize("technique", sorted(TECHNIQUES))
@given(tables)
def test_memory_is_empty_in_the_end(technique, table):
    counts, policy = np.array(table), make_flush_policy(technique)
    while counts.any():
        partition, streams = policy.choose(counts)
        assert counts[partition, streams].all()
        counts[partition, streams] = 0


@given(tables)
def test_whole_partition_is_the_largest(table):
    counts = np.array(table)
    assume(counts.any())
    partition, streams = LargestPartition().choose(counts)
    assert counts[partition, streams].sum() == counts.sum(axis=1).max()


@given(tables)
def test_single_stream_is_the_largest_of_all(table):
    counts = np.array(table)
    assume(counts.any())
    partition, (stream,) = LargestStream().choose(counts)
    assert counts[partition, stream] == counts.max()


@given(tables)
def test_stream_after_stream_leaves_no_partition_before_it_is_empty(table):
    counts, policy, order = np.array(table), StreamAfterStream(), []
    while counts.any():
        partition, streams = policy.choose(counts)
        counts[partition, streams] = 0
        order.append(partition)
    assert order == sorted(order, key=order.index)


def test_rivals_flush_as_their_papers_say():
    kinds = {technique: type(make_flush_policy(technique)) for technique in TECHNIQUES}
    assert kinds == {
        "snjoin": LargestPartition,
        "mjoin": StreamAfterStream,
        "amjoin": StreamAfterStream,
        "shj": LargestStream,
        "xjoin": LargestStream,
    }
