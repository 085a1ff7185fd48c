"""Tuples of several streams, drawn by Hypothesis, for the kernels of joins."""

from collections.abc import Sequence

import numpy as np
from hypothesis import strategies as st

from skerry.kernels.hash import hash_of
from skerry.kernels.joins.chained_tables import Records, pack_entries
from tests.oracles.rivals import Arrival

FIRST, LAST = -(2**63), 2**63 - 1

any_key = st.integers(-1, 1) | st.sampled_from([FIRST, LAST, 2**40, 2**52])
any_moment = st.integers(-8, 8) | st.sampled_from([FIRST, LAST])
any_span = st.integers(0, 6) | st.sampled_from([2**62, LAST])


@st.composite
def arrivals(draw, max_streams=6, moments=any_moment, spans=any_span, max_size=25):
    """How many streams there are, and tuples of them in any order; few keys, so that they join; a window a stream."""
    windows = draw(st.lists(spans, min_size=1, max_size=max_streams))
    keys = st.sampled_from(draw(st.lists(any_key, min_size=1, max_size=3)))
    drawn = draw(st.lists(st.tuples(st.integers(0, len(windows) - 1), keys, moments), max_size=max_size))
    return len(windows), [
        Arrival(stream, key, start, min(start + windows[stream], LAST), row)
        for row, (stream, key, start) in enumerate(drawn)
    ]


def columns(found: Sequence[Arrival]) -> list[np.ndarray]:
    """Streams, keys, starts, ends and rows."""
    fields = list(zip(*found, strict=True)) or [()] * 5
    return [np.array(fields[0], np.int32), *(np.array(field, np.int64) for field in fields[1:])]


def packed(found: Sequence[Arrival], table_count: int) -> Records:
    """As kernels take them."""
    return pack_entries(*columns(found), table_count)


def rows(answers: np.ndarray) -> list[tuple[int, ...]]:
    """Answers as the oracles give them."""
    return sorted(map(tuple, answers.tolist()))


def hashed(key: int) -> np.uint64:
    """A key's hash, as kernels hand it on to each other."""
    return np.uint64(hash_of(np.int64(key)))
