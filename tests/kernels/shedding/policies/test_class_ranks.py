import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from skerry.kernels.shedding.bounded_windows import at
from skerry.kernels.shedding.policies.class_ranks import lowest
from skerry.kernels.shedding.policies.pattern import Pattern
from skerry.kernels.shedding.window_arrays import empty_windows

STREAM, STREAMS = 1, 4
FULL = 0b1111
PATTERNS = (0b0010, 0b0011, 0b0110, 0b1010, FULL)


def draw_steps(seed):
    """Patterns, how many tuples of each come, and what these yield; by chance alone, for short lists show little."""
    random = np.random.default_rng(seed)
    patterns, arriving = random.choice(PATTERNS, 60), random.choice([1, 2, 5, 30], 60)
    return zip(patterns.tolist(), arriving.tolist(), random.choice([0, 1, 2, 20], 60).tolist(), strict=True)


def in_order(seen, tuples, answers):
    """Patterns by what they have yielded a tuple; of equals the full one first, then the one that was seen first."""
    return sorted(
        seen, key=lambda one: (0 if one == FULL else answers[one] / tuples[one], one != FULL, seen.index(one))
    )


@given(st.integers(0, 2**32))
def test_patterns_are_in_order_of_what_they_yield(seed):
    windows = empty_windows(np.full(STREAMS, 250, np.int64))
    policy = Pattern.of(windows, seed=0, hash_values=0)
    seen, tuples, answers = [], dict.fromkeys(PATTERNS, 0), dict.fromkeys(PATTERNS, 0)
    for number, (pattern, arriving, yielding) in enumerate(draw_steps(seed), start=1):
        kind = policy.classify(windows, 0, 0, STREAM, np.uint64(pattern))
        windows.tuples[at(windows, STREAM, number)]["kind"] = kind
        seen += [pattern] if pattern not in seen else []
        for _ in range(arriving):
            policy.admit(windows, STREAM, number, 0, kind)
            tuples[pattern] += 1
            order = policy.ranks.order[STREAM, : len(seen)]
            assert policy.classes["pattern"][order].tolist() == in_order(seen, tuples, answers)
        if yielding:
            policy.credit(windows, STREAM, number, float(yielding), False)
            answers[pattern] += yielding
        order = policy.ranks.order[STREAM, : len(seen)]
        assert policy.classes["pattern"][order].tolist() == in_order(seen, tuples, answers)
        assert lowest(policy.ranks, STREAM) == order[0]
