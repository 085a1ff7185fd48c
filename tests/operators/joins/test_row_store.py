import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skerry.errors import KernelError
from skerry.operators.joins.row_store import RowStore
from skerry.testing.laws import apply_changes

SCHEMA = pa.schema({"name": pa.string(), "speed": pa.float64()})

lengths = st.lists(st.integers(0, 40), min_size=1, max_size=30)


def batch(first: int, count: int) -> pa.RecordBatch:
    names = [None if row % 5 == 0 else f"row {row}" for row in range(first, first + count)]
    return pa.record_batch(
        [pa.array(names, pa.string()), pa.array([row / 2 for row in range(first, first + count)])], schema=SCHEMA
    )


def fill(lengths, life: int = 10**9) -> RowStore:
    """A store in which row n says "row n", and ends at n + life."""
    store = RowStore(SCHEMA)
    for count in lengths:
        add(store, count, life)
    return store


def add(store: RowStore, count: int, life: int = 10**9) -> None:
    first = store.next_row
    assert store.add(batch(first, count), np.arange(first, first + count) + life) == first


def speeds(store: RowStore, rows: list[int]) -> list[float]:
    return store.take(np.array(rows, np.int64)).column("speed").to_pylist()


def restore(pages, next_row=0) -> RowStore:
    store = RowStore(SCHEMA)
    store.restore(pages, next_row)
    return store


@given(lengths, st.data())
def test_rows_are_taken_in_any_order_and_as_often_as_asked(lengths, data):
    store = fill(lengths)
    rows = data.draw(st.lists(st.integers(0, sum(lengths) - 1), max_size=30)) if sum(lengths) else []
    expected = pa.concat_batches([batch(row, 1) for row in rows]) if rows else SCHEMA.empty_table().to_batches()
    taken = store.take(np.array(rows, np.int64))
    assert taken == expected if rows else taken.num_rows == 0


@given(st.lists(st.tuples(st.integers(1, 40), st.integers(1, 20)), min_size=1, max_size=7), st.data())
def test_rows_are_taken_again_whatever_was_kept_between(parts, data):
    store, live_rows = RowStore(SCHEMA), np.empty(0, np.int64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("skerry.operators.joins.row_store._SMALL", 10)
        for count, every in parts:
            kept = np.arange(count) % every == 0
            first = store.add(batch(store.next_row, count), np.full(count, 10**9), kept)
            live_rows = np.concatenate([live_rows, first + np.flatnonzero(kept)])
            for _ in range(2):
                rows = data.draw(st.lists(st.sampled_from(live_rows.tolist()), max_size=30))
                assert speeds(store, rows) == [row / 2 for row in rows]


@given(st.lists(st.integers(0, 40), min_size=1, max_size=60))
def test_chunks_stay_few(lengths):
    store = fill(lengths)
    assert len(store.snapshot()) <= 3 * (sum(lengths).bit_length() // 2 + 1)


def test_rows_of_large_and_small_chunks_are_taken_together():
    store = fill([50_000, 40_000, 10, 10])
    rows = [90_015, 3, 50_001, 90_005, 3]
    assert speeds(store, rows) == [row / 2 for row in rows]


def test_numbers_alone_are_taken_from_before_and_after_a_restore():
    store = RowStore(pa.schema({"speed": pa.float64()}))
    store.add(batch(0, 5).select(["speed"]), np.full(5, 9))
    copy = RowStore(pa.schema({"speed": pa.float64()}))
    copy.restore(store.snapshot())
    copy.add(batch(5, 5).select(["speed"]), np.full(5, 9))
    for rows in ([9, 7], [2, 8, 2], [0]):
        assert speeds(copy, rows) == [row / 2 for row in rows]


@given(st.lists(st.tuples(st.integers(1, 900), st.integers(1, 3)), min_size=1, max_size=12), st.data())
def test_numbers_alone_are_taken_whatever_was_kept_between(parts, data):
    store, live_rows = RowStore(pa.schema({"speed": pa.float64()})), np.empty(0, np.int64)
    for count, every in parts:
        numbers = np.arange(store.next_row, store.next_row + count)
        kept = numbers % every == 0
        store.add(pa.record_batch({"speed": numbers / 2}), np.full(count, 9), kept)
        live_rows = np.concatenate([live_rows, numbers[kept]])
        if live_rows.size and data.draw(st.booleans()):
            rows = live_rows[data.draw(st.integers(0, live_rows.size - 1)) :][::-1].tolist()
            assert speeds(store, rows) == [row / 2 for row in rows]


def test_rows_that_are_not_kept_are_counted_all_the_same():
    store = RowStore(SCHEMA)
    store.add(batch(0, 3), np.full(3, 9), kept=np.array([True, False, False]))
    assert store.add(batch(3, 1), np.full(1, 9)) == 3
    assert speeds(store, [3, 0]) == [1.5, 0.0]


@given(lengths, st.integers(0, 100), st.integers(0, 1200))
def test_rows_until_their_end_are_held(lengths, life, moment):
    store = fill(lengths, life)
    store.forget(moment)
    expected = [row for row in range(sum(lengths)) if row + life >= moment]
    numbers, rows = store.live_rows()
    assert (numbers.tolist(), rows.column("speed").to_pylist()) == (expected, [row / 2 for row in expected])


@given(lengths, st.integers(0, 100), st.integers(0, 1200))
def test_saved_panes_hold_live_rows_only(lengths, life, moment):
    store = fill(lengths, life)
    store.forget(moment)
    copy = restore(store.snapshot())
    assert copy.count == len(store.live_rows()[0])
    assert copy.live_rows()[1] == store.live_rows()[1]


def test_gaps_between_numbers_are_found():
    store = RowStore(SCHEMA)
    store.add(batch(0, 8), np.array([9, 0, 9, 0, 0, 9, 0, 9]))
    store.forget(1)
    assert speeds(restore(store.snapshot()), [7, 2, 5]) == [3.5, 1.0, 2.5]


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 50)), max_size=20))
def test_changes_add_up_to_the_snapshot(steps):
    store, saved, moment = RowStore(SCHEMA), {}, 0
    for count, later in steps:
        add(store, count, life=60)
        moment += later
        store.forget(moment)
        apply_changes(store.changes(), saved)
        assert saved.keys() == store.snapshot().keys()
        assert restore(saved, store.next_row).take(store.live_rows()[0]) == store.live_rows()[1]


def test_chunk_that_is_saved_is_not_written_again():
    store = fill([20])
    assert len(store.changes().put) == 1
    add(store, 1)
    assert len(store.changes().put) == 1


def test_chunk_is_dropped_when_its_last_row_ends():
    store = fill([3, 3], life=0)
    store.changes()
    store.forget(3)
    assert store.changes().drop == ["0"]


def test_numbers_go_on_after_a_restore():
    store = fill([3])
    assert restore(store.snapshot()).next_row == 3
    assert restore({}, next_row=7).next_row == 7


def test_store_that_was_restored_goes_on_saving_changes():
    store = fill([3])
    saved = dict(store.snapshot())
    copy = restore(saved)
    add(copy, 2)
    apply_changes(copy.changes(), saved)
    assert speeds(restore(saved), [4, 0]) == [2.0, 0.0]


def test_ends_of_other_length_are_refused():
    with pytest.raises(KernelError, match="rows and ends differ in length: 2 1"):
        RowStore(SCHEMA).add(batch(0, 2), np.zeros(1, np.int64))


def test_rows_that_are_not_to_be_kept_are_let_go():
    store = fill([3, 3, 3, 3])
    store.keep(np.array([1, 5, 11, 40]))
    assert store.count == 3
    assert store.live_rows()[0].tolist() == [1, 5, 11]
    assert store.live_rows()[1].column("speed").to_pylist() == speeds(store, [1, 5, 11]) == [0.5, 2.5, 5.5]
    store.keep(np.array([], np.int64))
    assert store.count == 0
    assert store.snapshot() == {}
