"""Broken clocks: which readings of a lane are so far ahead that those behind them would all be late."""

import numpy as np

from skerry.kernels._jit import kernel
from skerry.model.arrays import Bools, Int64s
from skerry.model.time import START_OF_TIME

__all__ = ["FEW_WITNESSES", "WITNESSES", "mark_ahead"]

FEW_WITNESSES, WITNESSES = 31, 1023
"""How many of the readings that follow are asked whether time has come so far: few find a single wrong clock even where
readings are rare, many find one that sends a burst."""


def mark_ahead(
    moments: Int64s, following: Int64s, newest: int, far_us: int, near_us: int, *, strict: bool
) -> tuple[Bools, int, bool]:
    """Mark the readings, in stored order, that are ahead of all before them and of most that follow.

    ``following`` are the times behind the last of them, ``newest`` is the newest time before the first, START_OF_TIME
    if none is known. A reading is ahead if it lies more than ``far_us`` after the newest so far, and most of the next
    31 or most of the next 1023 lie more than that before it; if all 31 are there, ``near_us`` is enough. ``strict``
    asks for witnesses: without any that follow, a reading ahead of those before it is marked too. Also gives the newest
    time that is not marked, and whether ``following`` was too short for some reading.

    >>> times, none = np.array([1, 2, 90, 3, 4]), np.zeros(0, np.int64)
    >>> marks, newest, is_short = mark_ahead(times, none, START_OF_TIME, 50, 50, strict=False)
    >>> marks.tolist(), newest
    ([False, False, True, False, False], 4)
    >>> mark_ahead(np.array([1, 2, 90, 91, 92]), none, START_OF_TIME, 50, 50, strict=False)[0].any()
    np.False_
    """
    marks, newest, is_short = _mark(moments, following, newest, far_us, near_us, strict)
    return marks, int(newest), bool(is_short)


@kernel
def _mark(moments, following, newest, far_us, near_us, strict):
    marks = np.zeros(moments.size, np.bool_)
    is_short = False
    for row in range(moments.size):
        known = newest > START_OF_TIME
        if not known or moments[row] > newest + near_us:
            seen, ahead = _ask(moments, following, row, newest, far_us, near_us)
            marks[row] = ahead or (strict and known and seen == 0)
            is_short |= seen < WITNESSES
        if not marks[row]:
            newest = max(newest, moments[row])
    return marks, newest, is_short


@kernel
def _ask(moments, following, row, newest, far_us, near_us):
    """How many readings behind a row were asked, and whether most of the few, or of all, say that it is ahead."""
    moment, own = moments[row], moments.size - row - 1
    is_far = newest == START_OF_TIME or moment > newest + far_us
    last = min(WITNESSES, own + following.size)
    behind_far, behind_near = 0, 0
    for number in range(last):
        witness = moments[row + 1 + number] if number < own else following[number - own]
        behind_far += witness < moment - far_us
        behind_near += witness < moment - near_us
        asked = number + 1
        if asked in (FEW_WITNESSES, last):
            if is_far and 2 * behind_far > asked:
                return last, True
            if newest > START_OF_TIME and asked >= FEW_WITNESSES and 2 * behind_near > asked:
                return last, True
    return last, False
