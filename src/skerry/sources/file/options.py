"""The options of a file source."""

from collections.abc import Mapping
from dataclasses import dataclass

from skerry.model.options import (
    OF_EVERY_SOURCE,
    Option,
    Owner,
    character,
    parse_options,
    text,
    truth_value,
    whole_number,
)
from skerry.sources.epoch_times import EVENT_TIME_UNIT

__all__ = ["FILE_OPTIONS", "FileOptions"]

_MOST_LINE_BYTES = 1 << 30

FILE_OPTIONS = (
    Option("path", text(), help="A file or a pattern.", required=True, example="'data/traffic/*.csv'"),
    Option("delimiter", character(), ",", "CSV: what stands between two fields."),
    Option("header", truth_value(), "true", "CSV: whether the first line names the columns."),
    Option("max_line_bytes", whole_number(1, _MOST_LINE_BYTES), str(1 << 20), "CSV and JSON: the longest line."),
    EVENT_TIME_UNIT,
)


@dataclass(frozen=True)
class FileOptions:
    """Where the files are, and how text in them is laid out.

    >>> FileOptions.parse({"path": "data/*.csv", "delimiter": ";"})
    FileOptions(path='data/*.csv', delimiter=';', header=True, max_line_bytes=1048576, event_time_unit=None)
    >>> FileOptions.parse({"path": "data/*.csv", "separator": ";"})
    Traceback (most recent call last):
    ...
    skerry.errors.OptionError: unknown option 'separator' of connector 'file'; it has delimiter, event_time_unit, ...
    """

    path: str
    delimiter: str
    header: bool
    max_line_bytes: int
    event_time_unit: str | None

    @classmethod
    def parse(cls, options: Mapping[str, str]) -> "FileOptions":
        """Read options as they stand behind WITH."""
        return cls(**parse_options(options, FILE_OPTIONS, Owner("connector 'file'", beside=OF_EVERY_SOURCE)))
