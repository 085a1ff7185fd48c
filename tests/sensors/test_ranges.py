import json
import math

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skerry.index.domains import domain_of, key_of_double
from skerry.index.value_sets import ValueSet
from skerry.sensors.messages import Setting
from skerry.sensors.ranges import MOST_INTERVALS, limit_spans, to_ranges
from tests import oracles

DOUBLE, BIGINT, REAL = pa.float64(), pa.int64(), pa.float32()
doubles = st.floats(allow_nan=False) | st.sampled_from([0.0, -0.0, 5e-324, 1e300, -1e300])
integers = st.integers(-(2**63) + 2, 2**63 - 1) | st.integers(-9, 9) | st.integers(2**53 - 2, 2**53 + 2)


def spans_of(type_, values, key):
    """Spans with the values, some of them joined."""
    keys = sorted(map(key, values))
    return ValueSet.of(
        (low, max(high, low) + 1) for low, high in zip(keys[::2], keys[1::2] or keys, strict=False)
    ).spans


def sends(spans, type_, value):
    ranges = {"x": to_ranges(limit_spans(spans, type_), type_)}
    again = Setting.from_json(json.loads(json.dumps(Setting(ranges=ranges).to_json(), allow_nan=False)))
    return oracles.admits(Setting(ranges={"x": again.ranges.get("x", ())}), {"x": value})


@given(values=st.lists(doubles, min_size=2, max_size=60), value=doubles)
def test_every_double_within_its_spans_is_sent(values, value):
    spans = spans_of(DOUBLE, values, key_of_double)
    if any(low <= key_of_double(value) < high for low, high in spans):
        assert sends(spans, DOUBLE, value)


@given(values=st.lists(integers, min_size=2, max_size=60), value=integers)
def test_every_whole_number_within_its_spans_is_sent(values, value):
    spans = spans_of(BIGINT, values, int)
    if any(low <= value < high for low, high in spans):
        assert sends(spans, BIGINT, value)


@given(values=st.lists(st.floats(width=32, allow_nan=False), min_size=2, max_size=9), value=doubles)
def test_every_double_that_is_rounded_into_a_span_is_sent(values, value):
    spans = spans_of(REAL, values, key_of_double)
    rounded = pa.scalar(value, DOUBLE).cast(REAL, safe=False).as_py()
    if any(low <= key_of_double(rounded) < high for low, high in spans):
        assert sends(spans, REAL, value)


@given(st.lists(integers, min_size=2, max_size=60))
def test_spans_are_few(values):
    assert len(limit_spans(spans_of(BIGINT, values, int), BIGINT)) <= MOST_INTERVALS


@pytest.mark.parametrize("type_", [DOUBLE, BIGINT, REAL])
def test_a_span_without_ends_has_none(type_):
    domain = domain_of(type_)
    assert to_ranges([(domain.low, domain.high)], type_) == ((None, None),)


def test_what_is_no_number_is_in_no_range():
    nan = key_of_double(math.nan)
    assert to_ranges([(nan, nan + 1)], DOUBLE) == ()
