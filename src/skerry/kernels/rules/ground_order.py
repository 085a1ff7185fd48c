"""In which order the nodes of a graph can be settled: each after those that it needs."""

from typing import NamedTuple

import numpy as np

from skerry.errors import KernelError
from skerry.kernels._jit import kernel
from skerry.model.arrays import Int64s

__all__ = ["GroundOrder", "find_order"]

_NEW = -1


class GroundOrder(NamedTuple):
    """By node, the part that it is in, and the level of that part.

    Nodes that need each other are one part. A part is at a higher level than all others that it needs.
    """

    parts: Int64s
    levels: Int64s


def find_order(count: int, nodes: Int64s, needs: Int64s) -> GroundOrder:
    """The order of ``count`` nodes, of which ``nodes[i]`` needs ``needs[i]`` (Tarjan, without recursion).

    Costs time and memory in proportion to nodes and edges.

    >>> order = find_order(3, np.array([0, 1, 1]), np.array([1, 0, 2]))
    >>> order.parts[0] == order.parts[1], order.levels.tolist()
    (np.True_, [1, 1, 0])
    """
    if nodes.shape != needs.shape:
        raise KernelError("nodes and needs differ in length:", nodes.size, needs.size)
    starts = np.zeros(count + 1, np.int64)
    np.cumsum(np.bincount(nodes, minlength=count), out=starts[1:])
    targets = needs[np.argsort(nodes, kind="stable")]
    parts = np.full(count, _NEW)
    levels = np.zeros(count, np.int64)
    _order(starts, targets, parts, levels)
    return GroundOrder(parts, levels)


@kernel
def _order(starts, targets, parts, levels):
    """Fill in parts and levels. A part is complete when the search leaves the first of its nodes that it met."""
    count = parts.size
    met, low, cursor = np.full(count, _NEW), np.empty(count, np.int64), starts[:-1].copy()
    waiting, path = np.empty(count, np.int64), np.empty(count, np.int64)
    waits, number, found = 0, 0, 0
    for root in range(count):
        if met[root] != _NEW:
            continue
        depth = 0
        path[0] = root
        while depth >= 0:
            node = path[depth]
            if met[node] == _NEW:
                met[node] = low[node] = number
                number += 1
                waiting[waits] = node
                waits += 1
            if cursor[node] < starts[node + 1]:
                target = targets[cursor[node]]
                cursor[node] += 1
                if met[target] == _NEW:
                    depth += 1
                    path[depth] = target
                elif parts[target] == _NEW:
                    low[node] = min(low[node], met[target])
                else:
                    levels[node] = max(levels[node], levels[target] + 1)
                continue
            if low[node] == met[node]:
                waits = _close(node, waiting, waits, parts, levels, found)
                found += 1
            depth -= 1
            if depth >= 0:
                above = path[depth]
                if parts[node] == _NEW:
                    low[above] = min(low[above], low[node])
                else:
                    levels[above] = max(levels[above], levels[node] + 1)


@kernel
def _close(first, waiting, waits, parts, levels, number):
    """Take the nodes of a part off those that wait; all are at the highest of their levels."""
    end, level = waits, 0
    while True:
        waits -= 1
        level = max(level, levels[waiting[waits]])
        if waiting[waits] == first:
            break
    for index in range(waits, end):
        parts[waiting[index]] = number
        levels[waiting[index]] = level
    return waits
