"""Intervals as users write them: a text that DuckDB reads, or a number and a unit by any of its names there.

sqlglot takes the first number and unit of a text for all of it, and any word behind an interval for its unit. DuckDB
reads such a word as the name of a column, and the number alone as seconds.
"""

import re
from difflib import get_close_matches

import duckdb
from sqlglot import exp

from skerry.model.duckdb_session import open_duckdb

__all__ = ["find_unit", "read_interval_text"]

_SHORT = {
    "MICROSECOND": ("US", "USEC", "USECS"),
    "MILLISECOND": ("MS", "MSEC", "MSECS"),
    "SECOND": ("S", "SEC", "SECS"),
    "MINUTE": ("M", "MIN", "MINS"),
    "HOUR": ("H", "HR", "HRS"),
    "DAY": ("D",),
    "WEEK": ("W",),
    "MONTH": ("MON", "MONS"),
    "QUARTER": (),
    "YEAR": ("Y", "YR", "YRS"),
    "DECADE": (),
    "CENTURY": ("CENTURIES",),
    "MILLENNIUM": ("MILLENNIA",),
}
_UNITS = {name: unit for unit, short in _SHORT.items() for name in (unit, f"{unit}S", *short)}
_NUMBER_AND_UNIT = re.compile(r"\s*(-?\d+(?:\.\d+)?)\s*([a-zA-Z]+)\s*")


def find_unit(word: str) -> str:
    """The unit that a word names; a ValueError that says which was meant if there is none.

    >>> find_unit("mins"), find_unit("HOURS")
    ('MINUTE', 'HOUR')
    """
    unit = _UNITS.get(word.upper())
    if unit is None:
        near = get_close_matches(word.upper(), _SHORT, 1)
        instead = f"did you mean {near[0]}?" if near else f"known are {', '.join(_SHORT)}"
        raise ValueError(f"{word!r} is no unit of time; {instead}")
    return unit


def read_interval_text(text: str) -> exp.Interval | None:
    """The interval that a text says by itself; None if it has no unit, which may follow; or a ValueError.

    >>> read_interval_text("5 min").sql("duckdb"), read_interval_text("1 day 02:00:00").sql("duckdb")
    ("INTERVAL '5' MINUTE", "INTERVAL '1 day 02:00:00'")
    >>> read_interval_text("5")
    """
    if found := _NUMBER_AND_UNIT.fullmatch(text):
        count, unit = found[1], find_unit(found[2])
        if "." in count:  # DuckDB cuts a fraction off if the unit is outside of the text
            return exp.Interval(this=exp.Literal.string(f"{count} {unit}"))
        return exp.Interval(this=exp.Literal.string(count), unit=exp.var(unit))
    if not re.search(r"[a-zA-Z:]", text):
        return None
    try:
        open_duckdb().execute("SELECT CAST(? AS INTERVAL)", [text]).fetchall()
    except duckdb.Error:
        raise ValueError(f"{text!r} is no span of time; write INTERVAL '5' SECOND") from None
    return exp.Interval(this=exp.Literal.string(text))
