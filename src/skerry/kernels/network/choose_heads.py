"""Which heads a tuple visits, and in what order: all, the relevant ones, or all by selectivity."""

import numpy as np

from skerry.kernels._jit import kernel
from skerry.kernels.network.draws import draw_unit

__all__ = ["choose_heads", "learn", "rank_heads"]


@kernel
def choose_heads(tuple_of, sequence, relevance, order, rules):
    """Write the heads after the first, which is the own, into a sequence: how long it is then.

    ``relevance`` is by own head, cell and head, and empty if all are to be probed, in the order of ``order``.
    """
    own, length = sequence[0], 1
    if relevance.shape[0] == 0:
        for head in order:
            if head != own:
                sequence[length] = head
                length += 1
        return length
    time, sensor, cell = tuple_of
    seed, _, is_normalised = rules
    entries = relevance[own, cell]
    total = max(entries.sum() - entries[own], 1e-9) if is_normalised else 1.0
    for head in range(entries.size):
        if head != own and draw_unit(seed, time, sensor, head) < entries[head] / total:
            length = _insert(sequence, length, entries, head)
    return length


@kernel
def _insert(sequence, length, entries, head):
    """Put a head behind those that are as relevant as it, or more."""
    at = length
    while at > 1 and entries[sequence[at - 1]] < entries[head]:
        sequence[at] = sequence[at - 1]
        at -= 1
    sequence[at] = head
    return length + 1


@kernel
def learn(relevance, cell, sequence, found, rules):
    """Add to the entry of each head that was probed by how much its share of the answer exceeds their mean."""
    probed, total, least = sequence.size - 1, found.sum(), rules[1]
    if probed == 0 or total == 0:
        return
    mean = (total - found[0]) / total / probed
    for at in range(1, sequence.size):
        entry = relevance[sequence[0], cell, sequence[at]] + found[at] / total - mean
        relevance[sequence[0], cell, sequence[at]] = min(1.0, max(least, entry))


@kernel
def rank_heads(answered, starts, order):
    """Order heads by descending mean selectivity of their members: tuples found per probe and member."""
    means = np.empty(order.size)
    for head in range(order.size):
        means[head] = -answered[head, 0] / max(1, answered[head, 1]) / (starts[head + 1] - starts[head])
    order[:] = np.argsort(means, kind="mergesort")
