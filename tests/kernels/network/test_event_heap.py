import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from skerry.kernels.network.event_heap import pop_event, push_event


@given(st.lists(st.none() | st.integers(0, 5), max_size=60))
def test_events_come_by_time_and_then_in_the_order_in_which_they_were_pushed(steps):
    heap, bounds = np.zeros((64, 5), np.int64), np.zeros(2, np.int64)
    waiting = []
    for item, time in enumerate(steps):
        if time is not None:
            push_event(heap, bounds, time, 1, 2, item)
            waiting.append((time, item))
        elif waiting:
            waiting.sort()
            assert pop_event(heap, bounds) == (1, 2, waiting.pop(0)[1])
