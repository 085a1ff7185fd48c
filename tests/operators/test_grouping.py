import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skerry.operators.grouping import buckets, canonical, group_rows
from tests import oracles
from tests.operators.readings import SCHEMA, readings


def spelled(value):
    """A value such that those that are equal as keys are equal here."""
    if isinstance(value, float):
        return "nan" if math.isnan(value) else value + 0.0
    return value


@given(readings(), st.lists(st.sampled_from(SCHEMA.names), max_size=3))
def test_rows_are_grouped_as_by_a_dictionary(batch, names):
    columns = [batch.column(name) for name in names]
    found = group_rows(columns, batch.num_rows)
    rows = [tuple(spelled(row[name]) for name in names) for row in batch.to_pylist()]
    assert (found.numbers.tolist(), found.first.tolist()) == oracles.group(rows)


@given(readings(), st.lists(st.sampled_from(SCHEMA.names), max_size=3), st.integers(1, 9))
def test_equal_keys_meet_in_one_bucket(batch, names, count):
    columns = [batch.column(name) for name in names]
    groups = group_rows(columns, batch.num_rows)
    chosen = buckets(columns, batch.num_rows, count)
    assert all(chosen[row] == chosen[groups.first[number]] for row, number in enumerate(groups.numbers))


@given(readings(), st.sampled_from(SCHEMA.names), st.integers(0, 20))
def test_bucket_of_a_row_does_not_depend_on_its_batch(batch, name, cut):
    column = batch.column(name)
    parts = [buckets([part], len(part), 7) for part in (column.slice(0, cut), column.slice(cut))]
    assert np.concatenate(parts).tolist() == buckets([column], len(column), 7).tolist()


@pytest.mark.parametrize("type_", [pa.int16(), pa.int32(), pa.int64(), pa.timestamp("us")])
def test_equal_integers_of_all_widths_meet(type_):
    assert buckets([pa.array([42], type_)], 1, 1000).tolist() == buckets([pa.array([42])], 1, 1000).tolist()


def test_equal_doubles_of_both_widths_meet():
    assert buckets([pa.array([1.5], pa.float32())], 1, 1000) == buckets([pa.array([1.5])], 1, 1000)


def test_equal_texts_of_both_widths_meet():
    assert buckets([pa.array(["a"], pa.large_string())], 1, 1000) == buckets([pa.array(["a"])], 1, 1000)


@pytest.mark.parametrize("twins", [[0.0, -0.0], [math.nan, -math.nan], [None, None]])
def test_doubles_that_are_one_key_meet(twins):
    assert len(set(buckets([pa.array(twins, pa.float64())], 2, 1000).tolist())) == 1


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (pa.array([0, 1, -1, None]), [55, 158, 767, 465]),
        (pa.array(["", "a", "ä", None]), [978, 880, 895, 465]),
        (pa.array([0.0, 1.5, math.nan, None]), [55, 358, 463, 465]),
        (pa.array([True, False, None]), [158, 55, 465]),
    ],
)
def test_buckets_never_change(values, expected):
    assert buckets([values], len(values), 1000).tolist() == expected


def test_buckets_of_two_columns_never_change():
    assert buckets([pa.array([1, 2]), pa.array(["a", "b"])], 2, 1000).tolist() == [386, 293]


def test_rows_without_keys_share_one_bucket():
    assert len(set(buckets([], 5, 1000).tolist())) == 1


def test_canonical_leaves_other_values_alone():
    assert canonical(pa.array([1.5, None, -2.0])).to_pylist() == [1.5, None, -2.0]
    assert canonical(pa.array(["a", None])).to_pylist() == ["a", None]


@pytest.mark.parametrize("type_", [pa.float32(), pa.float64()])
def test_canonical_keeps_the_type(type_):
    assert canonical(pa.array([-0.0], type_)).type == type_
