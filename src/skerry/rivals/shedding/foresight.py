"""A shedder that knows the future, where values repeat: the best greedy that is known, not the optimum.

A tuple is worth what it will still give, divided by the time until its end: the room in a window is best used, at any
moment, by those that give most per time. What it will give depends on what else is kept; so the first round supposes
that all is, and each further one that it will be as it was in the round before.
"""

from collections import deque
from math import prod

import numpy as np

from skerry.kernels.joins.snjoin import Tuples
from skerry.model.arrays import Float64s

__all__ = ["count_with_foresight"]


_NOBODY = -1
_ROUNDS = 3


def count_with_foresight(tuples: Tuples, stream_count: int, memory: int, rounds: int = _ROUNDS) -> float:
    """How many answers are given in the best of a few rounds.

    Tuples are in order of time and have one window; keys are numbers from 0 on.
    """
    _, gains = _round(tuples, stream_count, tuples.keys.size, np.zeros((tuples.keys.size, stream_count)))
    best = 0.0
    for _ in range(rounds):
        answers, gains = _round(tuples, stream_count, memory, gains)
        best = max(best, answers)
    return best


def _round(tuples: Tuples, stream_count: int, memory: int, expected: Float64s) -> tuple[float, Float64s]:
    """How many answers there are, and what each arrival gives with one tuple of each other stream, by that stream.

    ``expected`` is what that is thought to be.
    """
    windows = _Windows(tuples, stream_count, _find_worths_at_end(tuples, expected))
    answers, gains = 0.0, np.zeros_like(expected)
    for row, stream in enumerate(tuples.streams.tolist()):
        windows.expire(row)
        if windows.sizes[stream] >= memory:
            windows.shed(row)
        windows.take(row, expected[row])
        counts = windows.counts(row)
        answers += prod(counts)
        for other in range(stream_count):
            if other != stream:
                gains[row, other] = prod(counts[:other]) * prod(counts[other + 1 :])
    return answers, gains


def _find_worths_at_end(tuples: Tuples, gains: Float64s) -> Float64s:
    """What each tuple would have given until its end, had it been there from the beginning."""
    worths = np.zeros(tuples.keys.size)
    order = np.argsort(tuples.keys, kind="stable")
    for same in np.split(order, np.flatnonzero(np.diff(tuples.keys[order])) + 1):
        summed = np.cumsum(gains[same], axis=0)
        last = np.searchsorted(tuples.starts[same], tuples.ends[same], side="right") - 1
        worths[same] = summed[last, tuples.streams[same]]
    return worths


class _Windows:
    """What is kept, by stream and key, and what a tuple of each would have given until now."""

    def __init__(self, tuples: Tuples, stream_count: int, at_end: Float64s) -> None:
        key_count = int(tuples.keys.max(initial=-1)) + 1
        self.sizes = [0] * stream_count
        self._tuples, self._at_end = tuples, at_end
        self._streams, self._keys = tuples.streams.tolist(), tuples.keys.tolist()
        self._worths = np.zeros((stream_count, key_count))
        self._kept: list[list[deque[int]]] = [[deque() for _ in range(key_count)] for _ in range(stream_count)]
        self._oldest = np.full((stream_count, key_count), _NOBODY)
        self._lives = np.searchsorted(tuples.ends, tuples.starts).tolist()
        self._first = 0

    def expire(self, row: int) -> None:
        """Let those go that end before a tuple comes; all of a stream and key that came earlier are gone by then."""
        for ended in range(self._first, self._lives[row]):
            if self._oldest[self._streams[ended], self._keys[ended]] == ended:
                self._drop(self._streams[ended], self._keys[ended])
        self._first = max(self._first, self._lives[row])

    def shed(self, row: int) -> None:
        """Drop the tuple of an arrival's stream that is worth least; of a key it is the oldest."""
        stream = self._streams[row]
        (there,) = np.nonzero(self._oldest[stream] != _NOBODY)
        oldest = self._oldest[stream, there]
        left = self._tuples.ends[oldest] - self._tuples.starts[row] + 1
        self._drop(stream, int(there[np.argmin((self._at_end[oldest] - self._worths[stream, there]) / left)]))

    def take(self, row: int, expected: Float64s) -> None:
        """Keep a tuple."""
        own, key = self._streams[row], self._keys[row]
        self._worths[:, key] += expected
        same = self._kept[own][key]
        if not same:
            self._oldest[own, key] = row
        same.append(row)
        self.sizes[own] += 1

    def counts(self, row: int) -> list[int]:
        """How many tuples each stream has that may combine with one; its own has one, itself."""
        own, key = self._streams[row], self._keys[row]
        return [1 if stream == own else len(kept[key]) for stream, kept in enumerate(self._kept)]

    def _drop(self, stream: int, key: int) -> None:
        same = self._kept[stream][key]
        same.popleft()
        self._oldest[stream, key] = same[0] if same else _NOBODY
        self.sizes[stream] -= 1
