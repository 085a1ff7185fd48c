import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from skerry.kernels.rules.postings import Postings
from skerry.kernels.rules.row_set import NEW, OLD, RowSet

codes = st.integers(-2, 2) | st.sampled_from([-(2**63), 2**63 - 1])
batches = st.lists(st.tuples(st.booleans(), st.lists(st.tuples(codes, codes), max_size=30)), max_size=8)


def keys_of(rows):
    return np.array(rows, np.int64).reshape(-1, 2)


def find_all(rows, twin):
    found = rows.find(keys_of(sorted(twin)))
    return [tuple(rows.codes[row].tolist()) for row in found]


@given(batches)
def test_rows_come_and_go_as_in_a_set(batches):
    rows, twin = RowSet(2), set()
    for inserts, batch in batches:
        keys = keys_of(batch)
        if inserts:
            new = list(dict.fromkeys(each for each in batch if each not in twin))
            inserted = rows.insert(keys, np.zeros(len(keys), np.int64))
            assert [tuple(rows.codes[row].tolist()) for row in inserted.fresh] == new
            assert inserted.changed.tolist() == inserted.fresh.tolist()
            twin |= set(batch)
        else:
            found = rows.find(keys)
            rows.remove(np.unique(found[found >= 0]))
            twin -= set(batch)
            assert (rows.find(keys) == -1).all()
        assert find_all(rows, twin) == sorted(twin)


@given(batches, st.sampled_from([(0,), (1,), (1, 0), ()]), st.integers(1, 3))
def test_postings_find_the_rows_with_given_values(batches, columns, most):
    rows, postings, twin = RowSet(2), Postings(np.array(columns, np.int64)), set()
    for inserts, batch in batches:
        if inserts:
            fresh = rows.insert(keys_of(batch), np.zeros(len(batch), np.int64)).fresh
            postings.link(rows.codes, fresh)
            twin |= set(batch)
        else:
            found = rows.find(keys_of(batch))
            gone = np.unique(found[found >= 0])
            postings.unlink(gone)
            rows.remove(gone)
            twin -= set(batch)
    wanted = sorted({tuple(row[column] for column in columns) for row in twin} | {(9,) * len(columns)})
    queries = np.array(wanted, np.int64).reshape(len(wanted), len(columns))
    found = postings.seek(queries)
    expected = [sorted(row for row in twin if tuple(row[column] for column in columns) == each) for each in wanted]
    assert found.counts.tolist() == [len(each) for each in expected]
    assert group_rows(rows, postings.gather(found, rows.states, NEW), len(wanted)) == expected
    some, rest = postings.gather_some(found, rows.states, NEW, most)
    others = postings.gather(rest, rows.states, NEW)
    both = zip(group_rows(rows, some, len(wanted)), group_rows(rows, others, len(wanted)), strict=True)
    assert [sorted(first + second) for first, second in both] == expected
    assert np.bincount(some.queries, minlength=len(wanted)).tolist() == [min(len(each), most) for each in expected]


def group_rows(rows, matches, count):
    found = [[] for _ in range(count)]
    for query, row in zip(matches.queries.tolist(), matches.rows.tolist(), strict=True):
        found[query].append(tuple(rows.codes[row].tolist()))
    return [sorted(each) for each in found]


def test_only_rows_in_the_state_wanted_are_gathered():
    rows, postings = RowSet(2), Postings(np.array([0]))
    postings.link(rows.codes, rows.insert(keys_of([(7, 1), (7, 2), (7, 3)]), np.zeros(3, np.int64)).fresh)
    rows.states[:3] = OLD, NEW, OLD | NEW
    found = postings.seek(np.array([[7]]))
    gathered = {want: sorted(postings.gather(found, rows.states, want).rows.tolist()) for want in (OLD, NEW, OLD | NEW)}
    assert gathered == {OLD: [0, 2], NEW: [1, 2], OLD | NEW: [2]}


def test_a_row_that_comes_back_is_changed_but_not_fresh():
    rows = RowSet(1)
    rows.insert(np.array([[5], [6]]), np.array([3, 4]))
    rows.states[:2] = OLD, OLD | NEW
    inserted = rows.insert(np.array([[5], [6]]), np.array([8, 9]))
    assert (inserted.changed.tolist(), inserted.fresh.tolist()) == ([0], [])
    assert rows.ranks[:2].tolist() == [8, 4]


def test_a_new_row_has_the_least_rank_given():
    rows = RowSet(1)
    rows.insert(np.array([[5], [5], [5]]), np.array([8, 3, 9]))
    assert rows.ranks[0] == 3


def test_many_rows_outgrow_the_tables():
    rows, postings = RowSet(2), Postings(np.array([0, 1]))
    keys = np.stack([np.arange(5000) * 2**32, np.arange(5000) % 7], axis=1)
    fresh = rows.insert(keys, np.zeros(5000, np.int64)).fresh
    postings.link(rows.codes, fresh)
    postings.unlink(np.arange(4000))
    rows.remove(np.arange(4000))
    more = rows.insert(keys[::-1].copy(), np.zeros(5000, np.int64)).fresh
    postings.link(rows.codes, more)
    assert (rows.codes[rows.find(keys)] == keys).all()
    assert postings.seek(keys).counts.tolist() == [1] * 5000
