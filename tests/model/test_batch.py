import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from skerry.model.batch import as_batch, empty, join, pack, unpack
from tests.operators.readings import SCHEMA, readings


@given(readings())
def test_packed_batch_is_read_back_as_it_was(batch):
    # NaN differs from itself, so the bytes are compared.
    assert pack(unpack(pack(batch))) == pack(batch)
    assert unpack(pack(batch)).schema == batch.schema


@given(st.lists(readings(max_size=3), max_size=4))
def test_joined_batches_hold_all_rows_in_order(batches):
    rows = [row for batch in batches for row in batch.to_pylist()]
    assert repr(join(batches, SCHEMA).to_pylist()) == repr(rows)


def test_one_batch_is_joined_without_a_copy():
    batch = pa.record_batch({"x": [1]})
    assert join([empty(batch.schema), batch], batch.schema) is batch


def test_joining_nothing_gives_an_empty_batch():
    assert join([], SCHEMA) == empty(SCHEMA)


def test_table_of_many_chunks_is_one_batch():
    table = pa.table({"x": pa.chunked_array([[1], [2, 3]])})
    assert as_batch(table).to_pydict() == {"x": [1, 2, 3]}


def test_table_without_rows_is_an_empty_batch():
    assert as_batch(SCHEMA.empty_table()) == empty(SCHEMA)


def test_slice_is_packed_without_the_rest():
    batch = pa.record_batch({"x": list(range(10_000))})
    assert len(pack(batch.slice(5, 1))) < 1000
