import math
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skerry.operators.joins.keys import is_exact, key_codes
from tests.operators.readings import SCHEMA, readings

names = st.lists(st.sampled_from(SCHEMA.names), min_size=1, max_size=3)


def missing(value):
    return value is None or (isinstance(value, float) and math.isnan(value))


@given(readings(unusual=True), names)
def test_codes_are_equal_where_keys_are(batch, names):
    codes, joinable = key_codes([batch.column(name) for name in names], batch.num_rows)
    keys = [tuple(row[name] for name in names) for row in batch.to_pylist()]
    for one in range(batch.num_rows):
        for other in range(one):
            if joinable[one] and joinable[other]:
                assert (codes[one] == codes[other]) == (keys[one] == keys[other])


@given(readings(unusual=True), names)
def test_key_with_null_or_nan_joins_nothing(batch, names):
    _, joinable = key_codes([batch.column(name) for name in names], batch.num_rows)
    assert joinable.tolist() == [not any(missing(row[name]) for name in names) for row in batch.to_pylist()]


@given(readings(), names, st.integers(0, 20))
def test_code_of_a_row_does_not_depend_on_its_batch(batch, names, cut):
    columns = [batch.column(name) for name in names]
    whole, _ = key_codes(columns, batch.num_rows)
    rest, _ = key_codes([column.slice(cut) for column in columns], max(batch.num_rows - cut, 0))
    assert whole[cut:].tolist() == rest.tolist()


@pytest.mark.parametrize("type_", [pa.bool_(), pa.int16(), pa.uint64(), pa.float32(), pa.float64(), pa.timestamp("us")])
def test_single_column_of_words_is_exact(type_):
    assert is_exact([type_])


@pytest.mark.parametrize("types", [[pa.string()], [pa.decimal128(9, 2)], [pa.int64(), pa.int64()]])
def test_texts_decimals_and_several_columns_are_hashed(types):
    assert not is_exact(types)


@pytest.mark.parametrize("type_", [pa.int64(), pa.uint64()])
def test_extreme_integers_have_codes_of_their_own(type_):
    values = [-(2**63), -1, 0, 2**63 - 1] if type_ == pa.int64() else [0, 1, 2**63, 2**64 - 1]
    assert len(set(key_codes([pa.array(values, type_)], 4)[0].tolist())) == 4


def test_both_zeros_are_one_key():
    codes, joinable = key_codes([pa.array([0.0, -0.0])], 2)
    assert codes[0] == codes[1]
    assert joinable.all()


def test_equal_decimals_have_one_code():
    codes, _ = key_codes([pa.array([Decimal("1.50"), Decimal("1.5"), Decimal("1.51")], pa.decimal128(9, 2))], 3)
    assert (codes[0] == codes[1], codes[0] == codes[2]) == (True, False)
