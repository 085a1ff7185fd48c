import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skerry.errors import KernelError
from skerry.kernels.index.text_codes import Bytes, are_within, encode_prefixes

texts = st.binary(max_size=10) | st.sampled_from([b"", b"\0", b"aaaaaaa", b"aaaaaaa\0", b"aaaaaaaa", b"aaaaaaab"])


def packed(some):
    return Bytes(np.cumsum([0, *map(len, some)]), np.frombuffer(b"".join(some), np.uint8))


@given(st.lists(texts, max_size=8))
def test_codes_never_fall_and_tell_short_texts_apart(some):
    some = sorted(some)
    codes = encode_prefixes(packed(some)).tolist()
    assert codes == sorted(codes)
    assert all(
        one < other
        for one, other, text, next_ in zip(codes, codes[1:], some, some[1:], strict=False)
        if text != next_ and len(text) <= 7
    )


@given(st.lists(texts, min_size=1, max_size=5), st.lists(st.tuples(texts, texts), min_size=1, max_size=5))
def test_texts_within_ends_are_those_that_bytes_compare_so(some, ends):
    pairs = [(row, place) for row in range(len(some)) for place in range(len(ends))]
    rows, places = (np.array(column) for column in zip(*pairs, strict=True))
    found = are_within(packed(some), rows, packed([cut for pair in ends for cut in pair]), 2 * places)
    assert found.tolist() == [ends[place][0] <= some[row] < ends[place][1] for row, place in pairs]


def test_rows_and_places_that_differ_in_number_are_refused():
    with pytest.raises(KernelError, match="differ in length: 1 2"):
        are_within(packed([b"a"]), np.zeros(1, np.int64), packed([b"a", b"b"]), np.zeros(2, np.int64))
