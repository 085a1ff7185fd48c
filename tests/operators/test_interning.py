import math
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skerry.model.types import TIMESTAMP
from skerry.operators.interning import Keys, Sensors
from tests import oracles

COLUMNS = {
    pa.int16(): st.integers(-(2**15), 2**15 - 1),
    pa.int64(): st.integers(-3, 3) | st.integers(-(2**63), 2**63 - 1),
    pa.float32(): st.floats(width=32, allow_nan=False).map(lambda value: value + 0.0),
    pa.float64(): st.floats(allow_nan=False).map(lambda value: value + 0.0),
    pa.string(): st.text(max_size=4),
    pa.large_string(): st.text("ab", max_size=2),
    pa.bool_(): st.booleans(),
    TIMESTAMP: st.integers(-(2**55), 2**55),
    pa.decimal128(12, 2): st.integers(-999, 999).map(lambda cents: Decimal(cents) / 100),
}
types = pytest.mark.parametrize("type_", COLUMNS, ids=str)


def column(type_, data):
    return pa.array(data.draw(st.lists(COLUMNS[type_], max_size=20)), type_)


def order(value):
    return value.encode() if isinstance(value, str) else value


@types
@given(data=st.data())
def test_codes_are_equal_where_keys_are_and_nowhere_else(type_, data):
    keys, parts = Keys(type_), [column(type_, data) for _ in range(2)]
    codes = np.concatenate([keys.codes(part) for part in parts])
    expected = oracles.group([value for part in parts for value in part.to_pylist()])
    assert oracles.group(codes.tolist()) == expected


@types
@given(data=st.data())
def test_keys_come_back_from_their_codes(type_, data):
    keys, values = Keys(type_), column(type_, data)
    assert keys.values(keys.codes(values)).equals(values)


@types
@given(data=st.data())
def test_sensors_come_back_from_their_numbers(type_, data):
    sensors, values = Sensors(type_), column(type_, data)
    assert sensors.names(sensors.numbers(values)).equals(values)


@types
@given(data=st.data())
def test_sensors_are_numbered_as_by_a_dictionary(type_, data):
    sensors, parts = Sensors(type_), [column(type_, data) for _ in range(2)]
    numbers = [number for part in parts for number in sensors.numbers(part).tolist()]
    expected, first = oracles.group([value for part in parts for value in part.to_pylist()])
    assert (numbers, sensors.count) == (expected, len(first))


@types
@given(data=st.data())
def test_orders_of_sensors_are_those_of_their_names(type_, data):
    sensors, values = Sensors(type_), column(type_, data)
    numbers = sensors.numbers(values)
    orders, names = sensors.orders()[numbers], [order(value) for value in values.to_pylist()]
    assert [[a < b for b in orders] for a in orders] == [[a < b for b in names] for a in names]


def test_slice_of_a_column_is_coded_as_its_values():
    assert Keys(pa.string()).codes(pa.array(["x", "a", "b", "a"]).slice(1, 2)).tolist() == [0, 1]


def test_zero_has_no_sign():
    keys = Keys(pa.float64())
    assert repr(keys.values(keys.codes(pa.array([-0.0]))).to_pylist()) == "[0.0]"


def test_every_nan_is_one_sensor_after_all_others():
    sensors = Sensors(pa.float64())
    numbers = sensors.numbers(pa.array([math.nan, math.inf, -math.nan]))
    assert numbers.tolist() == [0, 1, 0]
    assert sensors.orders()[0] > sensors.orders()[1]


@pytest.mark.parametrize(("type_", "count"), [(pa.int64(), 0), (pa.string(), 2)])
def test_only_texts_must_be_remembered_as_keys(type_, count):
    keys = Keys(type_)
    keys.codes(pa.array([1, 2, 1]).cast(type_))
    assert keys.count == count
