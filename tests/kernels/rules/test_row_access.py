import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from skerry.kernels.array_address import address_of
from skerry.kernels.rules.postings import Postings
from skerry.kernels.rules.row_access import add_row, enter_list, find_list, find_row, lacks_keys, lacks_rows
from skerry.kernels.rules.row_set import RowSet

codes = st.integers(-2, 2) | st.sampled_from([-(2**63), 2**63 - 1])
keys = st.lists(st.tuples(codes, codes), max_size=60)


def find(rows, key, scratch):
    scratch[:2] = key
    return find_row(rows.address, address_of(scratch))


@given(keys, st.sampled_from([(0,), (1,), (1, 0), ()]), st.sets(st.integers(0, 59)))
def test_rows_one_by_one_come_as_they_do_in_columns(keys, columns, gone):
    rows, postings, scratch, row_of = RowSet(2), Postings(np.array(columns, np.int64)), np.empty(2, np.int64), {}
    for number, key in enumerate(keys):
        if key in row_of:
            assert find(rows, key, scratch) == row_of[key]
            continue
        assert find(rows, key, scratch) == -1
        if lacks_rows(rows.address):
            rows.grow()
        if lacks_keys(postings.address, rows.address):
            postings.reach(len(rows.codes))
            postings.grow()
        scratch[:2] = key
        row_of[key] = add_row(rows.address, address_of(scratch))
        enter_list(postings.address, rows.address, row_of[key], address_of(scratch))
        if number in gone:
            row = np.array([row_of.pop(key)])
            postings.unlink(row)
            rows.remove(row)
    held = np.array(sorted(row_of), np.int64).reshape(-1, 2)
    assert rows.find(held).tolist() == [row_of[key] for key in sorted(row_of)]
    for key in held:
        scratch[: len(columns)] = key[list(columns)]
        same = [row for other, row in row_of.items() if all(other[each] == key[each] for each in columns)]
        head, count = find_list(postings.address, address_of(scratch))
        assert (head, count) == (next(row for row in reversed(same)), len(same))
