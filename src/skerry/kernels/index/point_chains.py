"""Boxes in chains, one per value of an operand: those of a point's value are walked, and their other sides tested.

    value 7 ─ box 12 ─ box 40 ─ box 3          sides of box 40: axis 2 from 10 to 20, axis 5 up to 8

Right for boxes that ask for one of few values, however many other columns there are: a point costs nothing for the
boxes that ask for other values.
"""

from typing import NamedTuple

import numpy as np

from skerry.kernels._jit import kernel
from skerry.kernels.index.match_pairs import grow_pairs
from skerry.model.arrays import Int32s, Int64s

__all__ = ["Chains", "chain_all", "chain_more", "match_chains"]


class Chains(NamedTuple):
    """Chains of entries by value; an entry leads to a box's slot; a slot has sides."""

    heads: Int32s
    """By value: its first entry, or -1."""
    slots: Int32s
    """By entry."""
    following: Int32s
    """By entry: the next of its chain, or -1."""
    numbers: Int32s
    """By slot: the number of its box, or -1 if that is gone."""
    firsts: Int64s
    """By slot: where its sides begin; the end of the last behind them."""
    axes: Int32s
    lows: Int64s
    highs: Int64s


def chain_all(values: Int64s, slots: Int64s, value_count: int) -> tuple[Int32s, Int32s, Int32s]:
    """Heads, slots and following entries of chains that lie in memory one after the other.

    >>> heads, slots, following = chain_all(np.array([1, 0, 1]), np.array([0, 1, 2]), 2)
    >>> heads.tolist(), slots.tolist(), following.tolist()
    ([0, 1], [1, 0, 2], [-1, 2, -1])
    """
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    starts = np.searchsorted(ordered, np.arange(value_count + 1))
    heads = np.where(starts[:-1] < starts[1:], starts[:-1], -1).astype(np.int32)
    following = np.arange(1, values.size + 1, dtype=np.int32)
    following[starts[1:][starts[:-1] < starts[1:]] - 1] = -1
    return heads, slots[order].astype(np.int32), following


def chain_more(heads: Int32s, following: Int32s, tails: Int32s, values: Int32s, first: int) -> None:
    """Put entries, numbered from ``first`` on, behind the others of their values."""
    _chain_more(heads, following, tails, values, first)


def match_chains(chains: Chains, points: Int64s, values: Int64s) -> tuple[Int32s, Int32s]:
    """The pairs of a point and a box that it is in, in order of points; ``values`` are -1 where no box asks for it."""
    row, filled = 0, 0
    rows, numbers = np.empty(0, np.int32), np.empty(0, np.int32)
    while row < values.size:
        rows, numbers = grow_pairs(rows, numbers, filled, 2 * rows.size + values.size + chains.numbers.size)
        row, filled = _match(chains, points, values, row, rows, numbers, filled)
    return rows[:filled].copy(), numbers[:filled].copy()


@kernel
def _chain_more(heads, following, tails, values, first):
    for index in range(values.size):
        value, entry = values[index], first + index
        following[entry] = -1
        if heads[value] < 0:
            heads[value] = entry
        else:
            following[tails[value]] = entry
        tails[value] = entry


@kernel
def _match(chains, points, values, row, rows, numbers, filled):
    """Write pairs from a row on, as long as there is room for all boxes; the row and the pairs reached."""
    while row < values.size and filled + chains.numbers.size <= numbers.size:
        entry = chains.heads[values[row]] if values[row] >= 0 else -1
        while entry >= 0:
            slot = chains.slots[entry]
            inside = chains.numbers[slot] >= 0
            side, end = chains.firsts[slot], chains.firsts[slot + 1]
            while inside and side < end:
                code = points[chains.axes[side], row]
                inside = (chains.lows[side] <= code) & (code <= chains.highs[side])
                side += 1
            if inside:
                rows[filled], numbers[filled] = row, chains.numbers[slot]
                filled += 1
            entry = chains.following[entry]
        row += 1
    return row, filled
