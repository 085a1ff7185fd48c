"""How often a sensor speaks, if so many of its readings pass: messages, and looks in between them.

    turns       1   2   3   4   5   6   7   8   9  10
    readings    x   x   .   .   .   .   .   x   .   x        . left out
    sends       m   m   .   .   s   .   .   m   .   m        m a message, s a state: three turns were silent

What passes comes in runs: where values hardly change, the next is left out as the last one was.
"""

from dataclasses import dataclass
from functools import lru_cache
from math import exp

import numpy as np

from skerry.model.time import MICROS
from skerry.sensors.habits import Habits

__all__ = ["Passing", "Speaking", "count_asleep", "count_speaking"]

_LONGEST_RUN = 512


@dataclass(frozen=True)
class Passing:
    """The share of readings that pass, and how much the next fares as the last one did, from 0 to 1."""

    share: float = 1.0
    steadiness: float = 0.0


@dataclass(frozen=True)
class Speaking:
    """Per second: readings that are sent, messages that they are in, and states."""

    readings_hz: float
    messages_hz: float
    states_hz: float


def count_asleep(habits: Habits) -> Speaking:
    """A sensor that sleeps looks in, and does nothing else.

    >>> round(count_asleep(Habits()).states_hz, 3)
    0.333
    """
    return Speaking(0.0, 0.0, MICROS["SECOND"] / (habits.silent_turns * habits.publish_every_us))


@lru_cache(maxsize=65_536)
def count_speaking(habits: Habits, readings_hz: float, passing: Passing, *, is_regular: bool = True) -> Speaking:
    """How often a sensor speaks that has so many readings per second, in regular steps or at random.

    >>> every_5s = count_speaking(Habits(), 0.2, Passing())
    >>> round(every_5s.messages_hz, 3), round(every_5s.states_hz, 3)
    (0.2, 0.2)
    """
    turn_s = habits.publish_every_us / MICROS["SECOND"]
    if readings_hz <= 0.0 or passing.share <= 0.0:
        return count_asleep(habits)
    per_turn, left_out = readings_hz * turn_s, 1.0 - passing.share
    if is_regular:
        again = passing.steadiness + (1.0 - passing.steadiness) * left_out
        many = max(per_turn, 1.0)
        silent, still_silent = left_out * again ** (many - 1.0), again**many
        turns = max(1.0 / per_turn, 1.0)
    else:
        silent = still_silent = exp(-per_turn * passing.share)
        turns = 1.0
    slot_s = turns * turn_s
    looks_hz = _count_looks(habits.silent_turns, turns, silent, still_silent) / slot_s
    states_hz = max(looks_hz, MICROS["SECOND"] / habits.state_every_us)
    return Speaking(readings_hz * passing.share, (1.0 - silent) / slot_s, states_hz)


def _count_looks(patience: int, turns: float, silent: float, still_silent: float) -> float:
    """Looks in per slot, a slot being the turns from one possible message to the next.

    A run of silent slots begins after a message. It lasts for one more with the chance ``still_silent``, and has a look
    for each ``patience`` turns before its end.
    """
    lengths = np.arange(_LONGEST_RUN)
    looks = np.ceil((lengths + 1) * turns / patience - 1e-9) - 1.0
    begins = 1.0 - silent
    runs = min(silent * (1.0 - still_silent), begins)
    chances = np.append(begins - runs, runs * (1.0 - still_silent) * still_silent ** lengths[:-1])
    missing = max(1.0 - float((chances * (lengths + 1)).sum()), 0.0)
    return float((chances * looks).sum()) + missing * turns / patience
