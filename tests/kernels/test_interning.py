import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skerry.errors import KernelError
from skerry.kernels.interning import Integers, Texts
from tests import oracles
from tests.kernels.columns import any_integer

integers = st.integers(-3, 3) | any_integer
texts = st.text("ab", max_size=3).map(str.encode) | st.binary(max_size=9)


def joined(parts):
    return [value for part in parts for value in part]


def numbered(known, *parts):
    ends = [np.cumsum([0, *map(len, part)]) for part in parts]
    datas = [np.frombuffer(b"".join(part), np.uint8) for part in parts]
    return joined(known.number(end, data).tolist() for end, data in zip(ends, datas, strict=True))


def spelled(known):
    return [known.data[start:stop].tobytes() for start, stop in zip(known.offsets, known.offsets[1:], strict=False)]


@given(st.lists(st.lists(integers), max_size=3))
def test_integers_are_numbered_as_by_a_dictionary(parts):
    known = Integers()
    numbers = joined(known.number(np.array(part, np.int64)).tolist() for part in parts)
    expected, first = oracles.group(joined(parts))
    assert (numbers, known.values.tolist()) == (expected, [joined(parts)[row] for row in first])


@given(st.lists(st.lists(texts), max_size=3))
def test_texts_are_numbered_as_by_a_dictionary(parts):
    known = Texts()
    numbers = numbered(known, *parts)
    expected, first = oracles.group(joined(parts))
    assert (numbers, spelled(known)) == (expected, [joined(parts)[row] for row in first])


def test_many_integers_outgrow_the_table():
    known, values = Integers(), np.arange(1000) * 2**32
    assert known.number(np.concatenate([values, values])).tolist() == [*range(1000)] * 2


def test_many_texts_outgrow_the_table():
    known, values = Texts(), [b"sensor %d" % number for number in range(1000)]
    assert numbered(known, values, values) == [*range(1000)] * 2
    assert spelled(known) == values


def test_long_text_outgrows_the_room_for_texts():
    known, values = Texts(), [b"a" * 9000, b"a" * 9001, b"", b"a" * 9000]
    assert numbered(known, values) == [0, 1, 2, 0]
    assert spelled(known) == values[:3]


def test_texts_with_one_hash_are_kept_apart(monkeypatch):
    monkeypatch.setattr("skerry.kernels.interning.hash_bytes", lambda offsets, _: np.zeros(offsets.size - 1, np.uint64))
    assert numbered(Texts(), [b"a", b"b", b"ab", b"", b"b", b"a"]) == [0, 1, 2, 3, 1, 0]


def test_part_of_a_column_of_texts_is_numbered():
    known = Texts()
    assert known.number(np.array([1, 2, 3]), np.frombuffer(b"abba", np.uint8)).tolist() == [0, 0]
    assert spelled(known) == [b"b"]


@pytest.mark.parametrize("offsets", [[0, 5], [-1, 2], [3, 1]])
def test_texts_beyond_their_bytes_are_refused(offsets):
    with pytest.raises(KernelError, match="in 4 bytes"):
        Texts().number(np.array(offsets), np.zeros(4, np.uint8))
