import pyarrow as pa
import pytest

from skerry.sinks.memory import MemorySink

SCHEMA = pa.schema({"a": pa.int64()})


def rows(*numbers):
    return pa.record_batch([pa.array(numbers, pa.int64())], schema=SCHEMA)


@pytest.fixture
def sink():
    made = MemorySink()
    made.open({"v": SCHEMA, "w": SCHEMA}, resume=False)
    return made


def test_rows_come_in_the_order_of_batches(sink):
    sink.write("v", 2, rows(3))
    sink.write("v", 1, rows(1, 2))
    assert sink.table("v")["a"].to_pylist() == [1, 2, 3]


def test_batch_that_is_written_again_replaces_itself(sink):
    sink.write("v", 0, rows(1, 2))
    sink.write("v", 0, rows(1, 2))
    assert sink.table("v").num_rows == 2


def test_outputs_are_kept_apart(sink):
    sink.write("v", 0, rows(1))
    sink.write("w", 0, rows(2))
    assert [sink.table(output)["a"].to_pylist() for output in sink.outputs()] == [[1], [2]]


def test_output_without_rows_has_its_columns(sink):
    assert sink.table("w").schema == SCHEMA
    assert sink.table("w").num_rows == 0
