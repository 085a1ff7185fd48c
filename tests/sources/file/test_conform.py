import math
from datetime import date, datetime

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skerry.model.types import SQL_TYPES, TIMESTAMP
from skerry.sources.file.conform import can_cast, cast
from tests.oracles import text_files
from tests.sources.file.test_text_files import NUMBERS, TIMES, TRUTHS

DAY, OFFSET = r"20[0-9]{2}-[01][0-9]-[0-3][0-9]", r"(Z|[+-][01][0-9](:?[0-5]0)?)?"
SPELLED = {
    "INT": st.text("0123456789+-.xXeE_ ", max_size=8) | st.sampled_from(NUMBERS),
    "SMALLINT": st.text("0123456789-xXaF", max_size=8) | st.sampled_from(NUMBERS),
    "BIGINT": st.integers(-(2**65), 2**65).map(str) | st.integers().map(lambda whole: f"{whole}.0"),
    "DOUBLE": st.text("0123456789+-.eEinfaty(", max_size=8) | st.floats().map(repr) | st.sampled_from(NUMBERS),
    "FLOAT": st.floats().map(repr) | st.decimals(allow_nan=False, allow_infinity=False).map(str),
    "BOOLEAN": st.sampled_from(TRUTHS),
    "TIMESTAMP": st.sampled_from(TIMES)
    | st.datetimes().map(str)
    | st.from_regex(rf"\A{DAY}[ T][0-2][0-9](:[0-5][0-9]){{0,2}}(\.[0-9]{{1,7}})?{OFFSET}\Z"),
}


@settings(max_examples=150, deadline=None)
@given(data=st.data())
@pytest.mark.parametrize("name", SPELLED)
def test_a_text_is_read_in_the_same_way_whatever_stands_beside_it(name, data):
    texts = data.draw(st.lists(SPELLED[name], max_size=4))
    [alone] = cast([pa.array(texts, pa.string())], [SQL_TYPES[name]])
    [beside] = cast([pa.array([*texts, "no such value"], pa.string())], [SQL_TYPES[name]])
    assert same(alone, beside[:-1])
    assert beside[-1].as_py() is None


@settings(max_examples=150, deadline=None)
@given(data=st.data())
@pytest.mark.parametrize("name", SPELLED)
def test_texts_are_read_as_python_reads_them(name, data):
    texts = data.draw(st.lists(SPELLED[name], max_size=4))
    expected = [text_files.READERS[name](text) for text in texts]
    if name == "TIMESTAMP":
        expected = [None if moment and moment.year == 9999 else moment for moment in expected]
        texts = [text if moment else "never" for text, moment in zip(texts, expected, strict=True)]
    [found] = cast([pa.array(texts, pa.string())], [SQL_TYPES[name]])
    assert same(found, pa.array(expected, SQL_TYPES[name]))


def same(some: pa.Array, others: pa.Array) -> bool:
    pairs = zip(some.to_pylist(), others.to_pylist(), strict=True)
    return all(one == other or (is_nan(one) and is_nan(other)) for one, other in pairs)


def is_nan(value: object) -> bool:
    return isinstance(value, float) and math.isnan(value)


@pytest.mark.parametrize(
    ("stored", "type_", "expected"),
    [
        (pa.array([12.0, 12.7, math.nan, None]), pa.int32(), [12, None, None, None]),
        (pa.array([2**40, 7]), pa.int32(), [None, 7]),
        (pa.array([1, 0]), pa.bool_(), [True, False]),
        (pa.array([7]), pa.string(), ["7"]),
        (pa.array(["a", "7", None]).dictionary_encode(), pa.int64(), [None, 7, None]),
        (pa.array(["7"], pa.large_string()), pa.float64(), [7.0]),
        (pa.array([1_999], pa.timestamp("ns")), TIMESTAMP, [datetime(1970, 1, 1, 0, 0, 0, 1)]),
        (pa.array([1], pa.timestamp("s", "Europe/Paris")), TIMESTAMP, [datetime(1970, 1, 1, 0, 0, 1)]),
        (pa.array([date(2026, 1, 2)]), TIMESTAMP, [datetime(2026, 1, 2)]),
        (pa.array([date(2026, 1, 2)], pa.date64()), TIMESTAMP, [datetime(2026, 1, 2)]),
        (pa.nulls(1), TIMESTAMP, [None]),
    ],
)
def test_other_types_are_cast_without_guessing(stored, type_, expected):
    assert can_cast(stored.type, type_)
    assert cast([stored], [type_])[0].to_pylist() == expected


@pytest.mark.parametrize("stored", [pa.array([2**62], pa.timestamp("s")), pa.array([2**31 - 1], pa.date32())])
def test_a_time_beyond_all_microseconds_goes_to_their_end(stored):
    [found] = cast([stored], [TIMESTAMP])
    assert found.cast(pa.int64())[0].as_py() > 2**62


@pytest.mark.parametrize(
    ("stored", "type_"),
    [
        (pa.int64(), TIMESTAMP),
        (pa.float64(), TIMESTAMP),
        (pa.float64(), pa.bool_()),
        (TIMESTAMP, pa.int64()),
        (pa.list_(pa.int64()), pa.string()),
        (pa.binary(), pa.string()),
        (pa.float16(), pa.float64()),
        (pa.time64("us"), TIMESTAMP),
    ],
)
def test_types_that_have_nothing_in_common_cannot_be_cast(stored, type_):
    assert not can_cast(stored, type_)
