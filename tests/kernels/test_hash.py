"""State is kept by these hashes: a test here that fails means that no old checkpoint can be read."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skerry.kernels.hash import hash_bytes, hash_integers, mix
from tests import oracles
from tests.kernels.columns import any_integer

words = st.integers(0, 2**64 - 1)


def hash_texts(*texts: bytes) -> list[int]:
    ends = np.cumsum([0, *map(len, texts)])
    return hash_bytes(ends, np.frombuffer(b"".join(texts), np.uint8)).tolist()


@given(st.lists(any_integer))
def test_integers_are_hashed_as_by_whole_numbers(values):
    assert hash_integers(np.array(values, np.int64)).tolist() == [oracles.hash_integer(value) for value in values]


@given(st.lists(st.binary(max_size=9)))
def test_texts_are_hashed_as_by_whole_numbers(texts):
    assert hash_texts(*texts) == [oracles.hash_bytes(text) for text in texts]


@given(words, words)
def test_hashes_are_mixed_as_by_whole_numbers(left, right):
    found = mix(np.array([left], np.uint64), np.array([right], np.uint64))
    assert found.tolist() == [oracles.mix(left, right)]


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0, 16294208416658607535), (1, 10451216379200822465), (-1, 16490336266968443936), (2**62, 47939714376772075)],
)
def test_hashes_of_integers_never_change(value, expected):
    assert hash_integers(np.array([value])).tolist() == [expected]


@pytest.mark.parametrize(
    ("text", "expected"), [(b"", 14695981032226079745), (b"a", 12638187189669138152), (b"bc", 623243906653125455)]
)
def test_hashes_of_texts_never_change(text, expected):
    assert hash_texts(text) == [expected]


def test_mixed_hashes_never_change():
    assert mix(np.array([1], np.uint64), np.array([2], np.uint64)).tolist() == [3174492301114349736]


def test_order_of_columns_matters_to_a_mixed_hash():
    one, two = np.array([1], np.uint64), np.array([2], np.uint64)
    assert mix(one, two) != mix(two, one)
