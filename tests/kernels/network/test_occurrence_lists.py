import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from skerry.kernels.network.occurrence_lists import count_stored, lay_out_lists

rows = st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 1))


@given(st.lists(rows, min_size=1, max_size=30), st.data())
def test_counts_are_those_of_a_look_at_every_tuple(drawn, data):
    owners, values, stored = np.array(drawn).T
    lists = tuple(lay_out_lists(owners, values, 3, 3))
    for _ in range(5):
        owner, value = data.draw(st.integers(0, 2)), data.draw(st.integers(0, 2))
        first, last = sorted(data.draw(st.tuples(st.integers(0, len(drawn)), st.integers(0, len(drawn)))))
        slow = sum(row == (owner, value, 1) for row in drawn[first:last])
        assert count_stored(lists, stored, owner, value, first, last) == slow
