import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from skerry.kernels.shedding.priority_queues import append, empty_queues, first, least, prioritise, take_out
from skerry.kernels.shedding.window_arrays import empty_windows

CLASSES = 6
steps = st.lists(
    st.tuples(st.sampled_from(["append", "take_out", "prioritise"]), st.integers(1, CLASSES - 1), st.integers(0, 3)),
    max_size=60,
)


@given(steps)
def test_least_class_and_its_first_tuple_are_those_of_a_search(found):
    windows = empty_windows(np.array([100, 100], np.int64))
    queues = empty_queues(windows, CLASSES)
    queues.classes["tie"] = np.arange(CLASSES)[::-1]
    members = {kind: [] for kind in range(1, CLASSES)}
    for number, (step, kind, value) in enumerate(found, start=1):
        if step == "append":
            append(queues, windows, 1, number, kind)
            members[kind].append(number)
        elif step == "prioritise":
            prioritise(queues, windows, 1, kind, float(value))
        elif members[kind]:
            gone = members[kind].pop(value % len(members[kind]))
            take_out(queues, windows, 1, gone, kind)
        filled = [kind for kind in members if members[kind]]
        expected = min(filled, key=lambda kind: (queues.classes[kind]["priority"], -kind), default=0)
        assert least(queues, windows, 1) == expected
        assert all(first(queues, windows, 1, kind) == members[kind][0] for kind in filled)
        assert least(queues, windows, 0) == 0
