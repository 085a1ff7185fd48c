"""What a source says of its history: options that stand in the catalogue as they were written."""

from collections.abc import Mapping
from dataclasses import dataclass

from skerry.model.options import Option, Owner, parse_options, size_in_bytes, span_of_time, truth_value
from skerry.model.time import MICROS, Micros

__all__ = ["HISTORY_OPTIONS", "HistoryOptions"]

_LONGEST_US = 36_500 * MICROS["DAY"]

HISTORY_OPTIONS = (
    Option(
        "history", truth_value(), help="Whether accepted readings are kept; those of live sources of a project are."
    ),
    Option("history_for", span_of_time(1, _LONGEST_US), "30 days", "For how long they are kept."),
    Option("history_bytes", size_in_bytes(), help="How many bytes of them are kept at the most, such as '10 GB'."),
)


@dataclass(frozen=True)
class HistoryOptions:
    """Whether a source's readings are kept (None: if it is live), for how long, and how many bytes of them.

    >>> HistoryOptions.parse("traffic", {"history_for": "7 days", "history_bytes": "2 GB"})
    HistoryOptions(is_kept=None, for_us=604800000000, most_bytes=2000000000)
    """

    is_kept: bool | None
    for_us: Micros
    most_bytes: int | None

    @classmethod
    def parse(cls, source: str, given: Mapping[str, str]) -> "HistoryOptions":
        """Read what stands behind WITH."""
        found = parse_options(given, HISTORY_OPTIONS, Owner(f"source {source!r}"))
        return cls(found["history"], found["history_for"], found["history_bytes"])
