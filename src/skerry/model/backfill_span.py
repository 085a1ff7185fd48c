"""How much of history a view is to begin with, as its option says."""

from collections.abc import Mapping

from skerry.model.options import Option, Parser
from skerry.model.time import END_OF_TIME, MICROS, Micros, span

__all__ = ["BACKFILL", "read_backfill"]

_ALL = "all"
_LONGEST_US = 36_500 * MICROS["DAY"]


def _read(written: str) -> Micros | None:
    if written.strip().lower() == _ALL:
        return END_OF_TIME
    found = span(written)
    return found if found is not None and 0 < found <= _LONGEST_US else None


_PARSER = Parser(_read, "a span such as '1 hour', or 'all'", ("spans such as '1 hour'", "'all'"))
BACKFILL = Option(
    "backfill", _PARSER, help="How much of the history of its sources it begins with: a span, or all of it."
)


def read_backfill(options: Mapping[str, str]) -> Micros | None:
    """The span of history that a view begins with; None if it begins with none, the end of time if with all.

    >>> read_backfill({"backfill": "1 hour"}), read_backfill({"backfill": "ALL"}) == END_OF_TIME, read_backfill({})
    (3600000000, True, None)
    """
    return _read(options[BACKFILL.name]) if BACKFILL.name in options else None
