import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skerry.errors import KernelError
from skerry.kernels.index.text_codes import Bytes, are_within, encode_prefixes

texts = st.binary(max_size=10) | st.sampled_from([b"", b"\0", b"aaaaaaa", b"aaaaaaa\0", b"aaaaaaaa", b"aaaaaaab"])


def pack_texts(some):
    return Bytes(np.cumsum([0, *map(len, some)]), np.frombuffer(b"".join(some), np.uint8))


@given(st.lists(texts, max_size=8))
def test_codes_never_fall_and_distinguish_short_texts(some):
    some = sorted(some)
    codes = encode_prefixes(pack_texts(some)).tolist()
    assert codes == sorted(codes)
    assert all(
        one < other
        for one, other, text, next_ in zip(codes, codes[1:], some, some[1:], strict=False)
        if text != next_ and len(text) <= 7
    )


@given(st.lists(texts, min_size=1, max_size=5), st.lists(st.tuples(texts, texts), min_size=1, max_size=5))
def test_texts_within_ends_are_those_that_bytes_compare_so(some, ends):
    pairs = [(row, index) for row in range(len(some)) for index in range(len(ends))]
    rows, indexes = (np.array(column) for column in zip(*pairs, strict=True))
    found = are_within(pack_texts(some), rows, pack_texts([cut for pair in ends for cut in pair]), 2 * indexes)
    assert found.tolist() == [ends[index][0] <= some[row] < ends[index][1] for row, index in pairs]


def test_rows_and_indexes_that_differ_in_number_are_refused():
    with pytest.raises(KernelError, match="differ in length: 1 2"):
        are_within(pack_texts([b"a"]), np.zeros(1, np.int64), pack_texts([b"a", b"b"]), np.zeros(2, np.int64))
