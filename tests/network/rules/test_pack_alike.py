"""Tuples that are much alike take few bytes, and come out as they went in."""

from hypothesis import given
from hypothesis import strategies as st

from skerry.network.message import count_bytes
from skerry.network.rules.pack_alike import pack_alike, unpack_alike

LEAVES = st.one_of(st.integers(-2, 2), st.booleans(), st.none(), st.sampled_from(["a", ""]), st.just(1.0))
ITEMS = st.lists(st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=3).map(tuple), max_leaves=6), max_size=4)


@given(st.lists(ITEMS.map(tuple), max_size=6))
def test_what_is_packed_comes_out(items):
    assert sorted(map(repr, unpack_alike(pack_alike(items)))) == sorted(map(repr, items))


def test_values_that_are_shared_are_sent_once():
    items = [((3, (7, 5, 1)), ("paths", mote), ("paths", mote, 4)) for mote in range(30)]
    assert count_bytes(pack_alike(items)) < count_bytes(tuple(items)) / 7
