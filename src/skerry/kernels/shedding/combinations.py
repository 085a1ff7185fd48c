"""The combinations that an arrival completes in bounded windows: products that share a newest member.

As ``kernels.joins.snjoin`` finds them; but what is chosen are tuples, not rows, for they are credited.
"""

import numpy as np

from skerry.kernels._reference import inner_kernel
from skerry.kernels.joins.snjoin_table import FIRST_MOMENT, LONGEST_SPAN
from skerry.kernels.shedding.bounded_windows import at
from skerry.kernels.shedding.window_arrays import NONE

__all__ = ["choose", "first_newest", "next_newest", "write"]


@inner_kernel
def first_newest(windows, entry, own, arrival, stream):
    """The first tuple of a stream that may be the newest of an answer; the arrival itself in its own stream."""
    if stream == own:
        return arrival
    return _if_newest(windows, own, arrival, stream, np.int64(windows.heads[entry, stream]))


@inner_kernel
def next_newest(windows, own, arrival, stream, number):
    """The next one."""
    if stream == own:
        return np.int64(NONE)
    older = np.int64(windows.tuples[at(windows, stream, number)]["older"])
    return _if_newest(windows, own, arrival, stream, older)


@inner_kernel
def _if_newest(windows, own, arrival, stream, number):
    """A tuple, or the next older one, that starts after the arrival and while it is live; none if there is none."""
    tuples, arrived = windows.tuples, at(windows, own, arrival)
    while number != NONE and tuples[at(windows, stream, number)]["start"] > tuples[arrived]["end"]:
        number = np.int64(tuples[at(windows, stream, number)]["older"])
    if number != NONE and _is_before(tuples, at(windows, stream, number), stream, arrived, own):
        return np.int64(NONE)
    return number


@inner_kernel
def _is_before(tuples, one, one_stream, other, other_stream):
    """Whether one is older than the other. None are equal, for they are of different streams."""
    start, other_start = tuples[one]["start"], tuples[other]["start"]
    return (start < other_start) | ((start == other_start) & (one_stream < other_stream))


@inner_kernel
def choose(windows, entry, own, arrival, newest_stream, newest):
    """Choose the tuples that combine with an arrival and a newest member, maybe itself; give how many ways."""
    chosen, streams = windows.chosen, windows.streams.size
    total, position, stream = 1.0, streams + 1, 0
    while total > 0 and stream < streams:
        chosen[stream] = position
        if stream == own:
            chosen[position] = arrival
            position += 1
        elif stream == newest_stream:
            chosen[position] = newest
            position += 1
        else:
            position = _choose_older(windows, entry, stream, newest_stream, newest, position)
        total *= position - chosen[stream]
        stream += 1
    chosen[stream] = position
    return total


@inner_kernel
def _choose_older(windows, entry, stream, newest_stream, newest, position):
    """Choose the tuples of one stream that are live when the newest member starts, and come before it."""
    tuples, longest, there = windows.tuples, windows.streams[stream]["longest"], at(windows, newest_stream, newest)
    moment = tuples[there]["start"]
    edge = max(moment, FIRST_MOMENT + longest) - longest if longest < LONGEST_SPAN else FIRST_MOMENT
    number = np.int64(windows.heads[entry, stream])
    here = at(windows, stream, number)
    while number != NONE and tuples[here]["start"] >= edge:
        if tuples[here]["end"] >= moment and _is_before(tuples, here, stream, there, newest_stream):
            windows.chosen[position] = number
            position += 1
        number = np.int64(tuples[here]["older"])
        here = at(windows, stream, number)
    return position


@inner_kernel
def write(windows, output, filled, total):
    """Spell out the rows of what is chosen, the last stream changing fastest."""
    chosen, repeats = windows.chosen, 1
    for stream in range(output.shape[0] - 1, -1, -1):
        column = filled
        while column < filled + total:
            for member in range(chosen[stream], chosen[stream + 1]):
                row = windows.tuples[at(windows, stream, chosen[member])]["row"]
                for _ in range(repeats):
                    output[stream, column] = row
                    column += 1
        repeats *= chosen[stream + 1] - chosen[stream]
