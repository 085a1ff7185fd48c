import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from skerry.kernels.index.match_pairs import merge_pairs

some_pairs = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=20).map(sorted)


def columns(pairs):
    return tuple(np.array(column, np.int32) for column in ([row for row, _ in pairs], [box for _, box in pairs]))


@given(some_pairs, some_pairs)
def test_merged_pairs_are_those_of_both_in_order_of_rows(some, others):
    rows, numbers = merge_pairs(columns(some), columns(others))
    expected = sorted(some + others, key=lambda pair: pair[0])
    assert list(zip(rows.tolist(), numbers.tolist(), strict=True)) == expected
