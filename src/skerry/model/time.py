"""Event time: whole microseconds since the epoch, UTC.

A watermark ``w`` promises that no reading before ``w`` will be accepted any more. It starts at
``START_OF_TIME`` and, when a bounded input is used up, goes to ``END_OF_TIME``.
"""

import re
from datetime import UTC, datetime
from typing import NewType

__all__ = [
    "END_OF_TIME",
    "LAST_MOMENT",
    "MICROS",
    "START_OF_TIME",
    "Micros",
    "describe_interval",
    "seconds",
    "show",
    "show_span",
    "span",
]

Micros = NewType("Micros", int)

START_OF_TIME = Micros(-(2**62))
END_OF_TIME = Micros(2**62)
LAST_MOMENT = END_OF_TIME - 1
"""Times beyond the ends of time count as the ends, so that sums stay within 64 bits and all ends at the end."""

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


_UNITS = {"us": "MICROSECOND", "ms": "MILLISECOND", "s": "SECOND", "min": "MINUTE", "h": "HOUR", "d": "DAY"}
_UNIT_NAMES = (
    _UNITS | {"m": "MINUTE"} | {unit.lower(): unit for unit in MICROS} | {f"{unit.lower()}s": unit for unit in MICROS}
)
_SPAN = re.compile(rf"(\d{{1,15}}(?:\.\d{{1,15}})?)\s*({'|'.join(_UNIT_NAMES)})", re.IGNORECASE)


def span(text: str) -> Micros | None:
    """Read a span as options have it, or give None if it is none.

    >>> span("250ms"), span("1.5 h"), span("1 minute"), span("1m"), span("soon")
    (250000, 5400000000, 60000000, 60000000, None)
    """
    found = _SPAN.fullmatch(text.strip())
    return Micros(round(float(found[1]) * MICROS[_UNIT_NAMES[found[2].lower()]])) if found else None


def show_span(micros: int) -> str:
    """Write a span in the greatest unit that divides it.

    >>> show_span(90_000_000), show_span(3_600_000_000)
    ('90s', '1h')
    """
    unit = next(unit for unit in reversed(_UNITS) if micros % MICROS[_UNITS[unit]] == 0)
    return f"{micros // MICROS[_UNITS[unit]]}{unit}"


def describe_interval(span_us: int) -> str:
    """Write a span as SQL does, in the largest unit that divides it.

    >>> describe_interval(90_000_000)
    '90 SECOND'
    """
    units = [(unit, size) for unit, size in MICROS.items() if span_us % size == 0 and unit != "WEEK"]
    unit, size = units[-1]
    return f"{span_us // size} {unit}" if span_us else "0 SECOND"


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
