import numpy as np
import pyarrow as pa
import pytest

from skerry.operators.select_any import SelectAny

SCHEMA = pa.schema({"n": pa.int64()})


class Below:
    """Stands for an index: two queries, true for numbers below a limit."""

    def __init__(self, limit):
        self._limit = limit

    def match(self, batch):
        rows = np.flatnonzero(batch.column("n").to_numpy() < self._limit).astype(np.int32)
        return np.repeat(rows, 2), np.tile(np.array([0, 1], np.int32), rows.size)


def numbers(limit, count):
    batch = pa.record_batch({"n": np.arange(count)})
    return SelectAny(SCHEMA, Below(limit)).transition(batch).column("n").to_pylist()


@pytest.mark.parametrize("count", [9, 5_000])
def test_rows_that_no_query_wants_are_dropped(count):
    assert numbers(4, count) == [0, 1, 2, 3]


def test_a_batch_that_is_mostly_wanted_passes_as_it_is():
    assert len(numbers(4_900, 5_000)) == 5_000


def test_nothing_comes_of_nothing():
    assert numbers(4, 0) == []
