"""Rows per element of a list."""

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from skerry.operators.unnest import Unnest

SCHEMA = pa.schema({"k": pa.int64(), "v": pa.list_(pa.int64())})
LISTS = st.lists(st.none() | st.lists(st.none() | st.integers(0, 9), max_size=3), max_size=6)


def twin(lists, *, keeps_empty):
    """Row by row."""
    found = []
    for key, values in enumerate(lists):
        numbered = list(enumerate(values or [], 1)) or ([(None, None)] if keeps_empty else [])
        found += [{"k": key, "v": value, "n": number} for number, value in numbered]
    return found


@given(lists=LISTS, keeps_empty=st.booleans(), start=st.integers(0, 3))
def test_unnest_agrees_with_its_twin(lists, keeps_empty, start):
    rows = pa.record_batch({"k": list(range(len(lists))), "v": lists}, schema=SCHEMA).slice(min(start, len(lists)))
    found = Unnest(SCHEMA, "v", "n", keeps_empty=keeps_empty).transition(rows).to_pylist()
    assert found == [row for row in twin(lists, keeps_empty=keeps_empty) if row["k"] >= min(start, len(lists))]
