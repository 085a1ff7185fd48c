"""Event time: whole microseconds since the epoch, UTC.

A watermark ``w`` promises that no reading before ``w`` will be accepted any more. It starts at
``START_OF_TIME`` and, when a bounded input is used up, goes to ``END_OF_TIME``.
"""

from datetime import UTC, datetime
from typing import NewType

__all__ = ["END_OF_TIME", "MICROS", "START_OF_TIME", "Micros", "seconds", "show"]

Micros = NewType("Micros", int)

START_OF_TIME = Micros(-(2**62))
END_OF_TIME = Micros(2**62)

MICROS = {
    "MICROSECOND": 1,
    "MILLISECOND": 1_000,
    "SECOND": 1_000_000,
    "MINUTE": 60_000_000,
    "HOUR": 3_600_000_000,
    "DAY": 86_400_000_000,
    "WEEK": 7 * 86_400_000_000,
}
"""How many microseconds an SQL interval unit has. Months and years have no fixed length."""


def seconds(count: float) -> Micros:
    """Turn seconds into microseconds.

    >>> seconds(1.5)
    1500000
    """
    return Micros(round(count * 1_000_000))


def show(moment: Micros) -> str:
    """Write a moment for people.

    >>> show(seconds(1_700_000_000))
    '2023-11-14 22:13:20'
    >>> show(END_OF_TIME)
    'the end of time'
    """
    if moment >= END_OF_TIME:
        return "the end of time"
    if moment <= START_OF_TIME:
        return "the start of time"
    return datetime.fromtimestamp(moment / 1e6, UTC).strftime("%Y-%m-%d %H:%M:%S")
