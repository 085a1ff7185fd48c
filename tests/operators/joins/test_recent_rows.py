import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skerry.model.types import TIMESTAMP
from skerry.operators.joins.recent_rows import RecentRows

SCHEMA = pa.schema({"ts": TIMESTAMP, "speed": pa.float64(), "lane": pa.int16()})

batches = st.lists(st.tuples(st.integers(1, 700), st.booleans()), max_size=12)


def batch(first: int, count: int, null: bool = False) -> pa.RecordBatch:
    """Rows that tell their numbers; if asked, one has a NULL."""
    numbers = np.arange(first, first + count)
    lanes = pa.array(numbers % 7, pa.int16(), mask=numbers == first if null else None)
    return pa.record_batch([pa.array(numbers, TIMESTAMP), pa.array(numbers / 2), lanes], schema=SCHEMA)


def fill(sizes) -> tuple[RecentRows, int]:
    recent, count = RecentRows(SCHEMA), 0
    for size, null in sizes:
        recent.add(batch(count, size, null), np.arange(count, count + size))
        count += size
    return recent, count


@given(batches, st.data())
def test_rows_are_given_as_they_came_or_not_at_all(sizes, data):
    recent, count = fill(sizes)
    for _ in range(4 if count else 0):
        rows = np.array(data.draw(st.lists(st.integers(0, count - 1), min_size=1, max_size=9)), np.int64)
        taken = recent.take(rows)
        assert taken is None or taken == batch(0, count).take(pa.array(rows))


@given(st.lists(st.integers(1, 700), min_size=1, max_size=9))
def test_last_thousand_rows_are_there(sizes):
    recent, count = fill([(size, False) for size in sizes])
    assert recent.take(np.arange(max(count - 1024, 0), count)) is not None


def test_batch_with_null_is_passed_over():
    recent, _ = fill([(5, False), (5, True), (5, False)])
    assert recent.take(np.array([4])) is recent.take(np.array([5])) is None
    assert recent.take(np.array([10])) == batch(10, 1)


def test_rows_with_gaps_between_them_lie_at_their_numbers():
    recent, _ = fill([(5, False)])
    recent.add(batch(5, 9).take(pa.array([0, 3, 8])), np.array([5, 8, 13]))
    assert recent.take(np.array([13, 4, 8])) == batch(0, 14).take(pa.array([13, 4, 8]))


@given(batches, st.data())
def test_it_starts_over_with_what_is_held(sizes, data):
    recent, count = fill([*sizes, (1, False)])
    oldest = data.draw(st.integers(0, count - 1))
    kept = np.flatnonzero(np.arange(count) % data.draw(st.integers(1, 3)) == 0)
    held = [(part, batch(0, count).take(pa.array(part))) for part in np.array_split(kept, 3) if part.size]
    assert recent.start_over(oldest, held)
    rows = kept[kept >= oldest][::-1]
    assert not rows.size or recent.take(rows) == batch(0, count).take(pa.array(rows))
    assert not oldest or recent.take(np.array([oldest - 1])) is None


def test_it_does_not_start_over_with_a_null():
    recent, _ = fill([(5, False), (5, False)])
    assert not recent.start_over(2, [(np.arange(5), batch(0, 5)), (np.arange(5, 10), batch(5, 5, null=True))])


def test_large_batch_finds_room():
    recent, _ = fill([(5000, False)])
    assert recent.take(np.array([0, 4999])) == batch(0, 5000).take(pa.array([0, 4999]))


def test_slice_of_a_batch_is_read_from_its_start():
    recent = RecentRows(SCHEMA)
    recent.add(batch(0, 9).slice(4, 3), np.arange(3))
    assert recent.take(np.array([0])) == batch(4, 1)


@pytest.mark.parametrize("type_", [pa.string(), pa.bool_(), pa.list_(pa.int64())])
def test_columns_of_no_fixed_width_do_not_fit(type_):
    recent = RecentRows(pa.schema({"x": type_}))
    recent.add(pa.record_batch({"x": pa.array([None], type_)}), np.arange(1))
    assert recent.take(np.array([0])) is None
