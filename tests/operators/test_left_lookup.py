import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from skerry.model.expression import Expression
from skerry.operators.left_lookup import LeftLookup

SCHEMA = pa.schema({"id": pa.int64()})
KEY = Expression.of("id", pa.int64())
keys = st.lists(st.none() | st.integers(0, 3), max_size=6)


def look_up(rows, table, condition=None):
    names = pa.record_batch([pa.array(table, pa.int64()), pa.array(range(len(table)), pa.int64())], ["id", "n"])
    lookup = LeftLookup(SCHEMA, "t", names, [(KEY, KEY)], condition)
    found = lookup.transition(pa.record_batch([pa.array(rows, pa.int64())], schema=SCHEMA))
    return list(zip(found["id"].to_pylist(), found["t.n"].to_pylist(), strict=True))


@given(rows=keys, table=keys)
def test_each_row_has_its_rows_of_the_table_or_null(rows, table):
    expected = []
    for row in rows:
        partners = [number for number, key in enumerate(table) if key is not None and key == row]
        expected += [(row, partner) for partner in partners or [None]]
    assert look_up(rows, table) == expected


def test_rows_of_the_table_that_do_not_count_are_not_found():
    assert look_up([1, 2], [1, 1], Expression('"n" > 0', pa.bool_())) == [(1, 1), (2, None)]


def test_nothing_is_found_in_an_empty_table():
    assert look_up([1], []) == [(1, None)]
