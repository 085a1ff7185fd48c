import math

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skerry.index.column_codes import Axis, encode_column, encode_side, is_exact
from skerry.index.domains import LEAST, key_of_double
from skerry.index.value_sets import ValueSet

texts = st.text(st.sampled_from("\0abé"), max_size=10)
doubles = st.floats() | st.sampled_from([0.0, -0.0, math.nan, math.inf, -math.inf])


def code(axis, value, type_):
    return encode_column(axis, pa.array([None, value], type_)).tolist()


@given(doubles)
def test_code_of_a_double_is_its_key(value):
    assert code(Axis("d"), value, pa.float64()) == [LEAST, key_of_double(value)]


@given(doubles, doubles)
def test_doubles_are_in_the_order_of_duckdb(one, other):
    def order(value):
        return (1, 0.0) if math.isnan(value) else (0, value)

    assert (key_of_double(one) < key_of_double(other)) == (order(one) < order(other))


@pytest.mark.parametrize("type_", [pa.int16(), pa.int32(), pa.int64(), pa.timestamp("us")])
def test_code_of_a_whole_number_is_itself(type_):
    assert code(Axis("i"), 1, type_) == [LEAST, 1]


def test_false_comes_before_true():
    assert encode_column(Axis("b"), pa.array([True, False, None])).tolist() == [1, 0, LEAST]


def test_least_number_of_64_bits_has_no_code_of_its_own():
    assert encode_column(Axis("l"), pa.array([LEAST, LEAST + 1, None])).tolist() == [LEAST + 1, LEAST + 1, LEAST]


@given(texts, texts)
def test_codes_of_texts_never_fall(one, other):
    low, high = sorted([one.encode(), other.encode()])
    first, last = encode_column(Axis("s"), pa.array([low.decode(), high.decode()])).tolist()
    assert first <= last
    assert first < last or low == high or len(low) > 7


@given(texts, texts, texts | st.none())
def test_all_that_is_in_a_side_is_in_its_intervals(low, high, value):
    side = ValueSet.of([(low.encode(), high.encode())])
    if not side:
        return
    found = {axis: code(axis, value, pa.string())[1] for axis in encode_side("s", side)}
    coded = all(low <= found[axis] <= high for axis, (low, high) in encode_side("s", side).items())
    inside = value is not None and low.encode() <= value.encode() < high.encode()
    assert coded or not inside
    assert coded == inside or not is_exact(side)


@given(texts, texts)
def test_equality_of_long_texts_is_decided_by_hash(one, other):
    side = ValueSet.of([(one.encode(), one.encode() + b"\0")])
    hashed = encode_side("s", side).get(Axis("s", hashed=True))
    assert (hashed is not None) == (len(one.encode()) > 7)
    if hashed:
        low, high = hashed
        assert (low <= code(Axis("s", hashed=True), other, pa.string())[1] <= high) == (one == other)
