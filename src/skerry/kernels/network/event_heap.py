"""A queue of events in arrays, by (time, sequence): of equal times, the one that was pushed first."""

import numpy as np

from skerry.kernels._jit import kernel

__all__ = ["pop_event", "push_event"]

_SIZE, _SEQUENCE = 0, 1


@kernel
def push_event(heap, bounds, time, kind, head, item):
    """Add an event to a heap that has room. ``bounds`` has its size, and how many were ever pushed."""
    slot, bounds[_SIZE] = bounds[_SIZE], bounds[_SIZE] + 1
    bounds[_SEQUENCE] += 1
    sequence = bounds[_SEQUENCE]
    while slot > 0:
        parent = (slot - 1) >> 1
        if heap[parent, 0] <= time:
            break
        heap[slot] = heap[parent]
        slot = parent
    heap[slot, 0], heap[slot, 1], heap[slot, 2], heap[slot, 3], heap[slot, 4] = time, sequence, kind, head, item


@kernel
def pop_event(heap, bounds):
    """Take the first event out: its kind, head and item."""
    kind, head, item = heap[0, 2], heap[0, 3], heap[0, 4]
    bounds[_SIZE] -= 1
    size = bounds[_SIZE]
    slot, child = 0, 1
    while child < size:
        if child + 1 < size and _is_before(heap, child + 1, child):
            child += 1
        if not _is_before(heap, child, size):
            break
        heap[slot] = heap[child]
        slot, child = child, 2 * child + 1
    heap[slot] = heap[size]
    return kind, head, np.int64(item)


@kernel
def _is_before(heap, one, other):
    if heap[one, 0] != heap[other, 0]:
        return heap[one, 0] < heap[other, 0]
    return heap[one, 1] < heap[other, 1]
