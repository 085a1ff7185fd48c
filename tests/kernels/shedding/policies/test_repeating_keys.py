from collections import Counter
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skerry.kernels.shedding.policies.repeating_keys import (
    ABSENT,
    combinations,
    count_arrival,
    empty_repeating_keys,
    forget,
    is_repeating,
    judge,
    would_repeat,
)
from skerry.kernels.shedding.window_arrays import empty_windows

STREAMS, ENTRIES = 3, 4
steps = st.lists(st.tuples(st.booleans(), st.integers(1, ENTRIES), st.integers(0, STREAMS - 1)), max_size=40)


@settings(max_examples=60)
@given(steps)
def test_key_repeats_from_the_second_tuple_of_a_stream_until_none_is_left(found):
    windows = empty_windows(np.full(STREAMS, 100, np.int64))
    keys, had, held = empty_repeating_keys(windows), Counter(), Counter()
    for comes, entry, stream in found:
        before = any(had[entry, each] > 1 for each in range(STREAMS))
        assert would_repeat(keys, entry, stream) == (before or had[entry, stream] > 0)
        if comes:
            had[entry, stream] += 1
            held[entry, stream] += 1
            assert count_arrival(keys, windows, entry, stream) == (not before and had[entry, stream] > 1)
        elif held[entry, stream]:
            held[entry, stream] -= 1
            keys.held[entry * STREAMS + stream] -= 1
        if not any(held[entry, each] for each in range(STREAMS)):
            forget(keys, entry)
            had = Counter({pair: count for pair, count in had.items() if pair[0] != entry})
        assert is_repeating(keys, entry) == any(had[entry, each] > 1 for each in range(STREAMS))
        others = [held[entry, each] + ABSENT for each in range(STREAMS) if each != stream]
        assert combinations(keys, windows, entry, stream) == pytest.approx(prod(others))


def test_priority_is_what_is_ahead_of_a_tuple_by_its_lifetime():
    windows = empty_windows(np.full(STREAMS, 100, np.int64))
    windows.streams["longest"] = [9, 19, 39]
    keys = empty_repeating_keys(windows)
    for stream, count in enumerate([1, 2, 0]):
        for _ in range(count):
            count_arrival(keys, windows, 1, stream)
    judge(keys, windows, 1)
    ahead = [(2 + ABSENT) * ABSENT, (1 + ABSENT) * ABSENT, (1 + ABSENT) * (2 + ABSENT)]
    expected = [2 * gain / lifetime for gain, lifetime in zip(ahead, [10, 20, 40], strict=True)]
    assert keys.queues.classes["priority"][STREAMS : 2 * STREAMS] == pytest.approx(expected)
