"""Options: what may stand behind WITH or be given to a sink, declared once and read from text.

An owner (a connector, a view, a sink) declares its options in a tuple. ``parse_options`` refuses names that are not
declared, options that are missing and values that cannot be read, and says what would do.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from difflib import get_close_matches
from typing import Any

from skerry.errors import OptionError
from skerry.model.time import Micros, show_span, span

__all__ = [
    "OF_EVERY_SOURCE",
    "Option",
    "Owner",
    "Parser",
    "character",
    "moment",
    "number",
    "one_of",
    "parse_option",
    "parse_options",
    "size_in_bytes",
    "span_of_time",
    "suggest",
    "text",
    "truth_value",
    "whole_number",
]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TRUTH = {"true": True, "false": False}
_BYTES = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}


@dataclass(frozen=True)
class Parser:
    """Reads a value: ``read`` gives None for a text that is not one, ``expected`` says what a value looks like.

    ``known`` lists the values, where there are few.
    """

    read: Callable[[str], Any]
    expected: str
    known: tuple[str, ...] = ()


@dataclass(frozen=True)
class Option:
    """An option: its name, how it is read, what holds without it, and one line of help.

    The default is a text, read as a value of the user's would be. Without a default the value is None, unless the
    option is required: then ``example`` says what to give.
    """

    name: str
    parser: Parser
    default: str | None = None
    help: str = ""
    required: bool = False
    example: str = ""


OF_EVERY_SOURCE = ("idle_timeout", "max_ahead", "sample_period")
"""The options that a source has whatever its connector is."""


@dataclass(frozen=True)
class Owner:
    """Whose options they are, and how its errors are worded."""

    name: str
    unknown: str = "unknown option {option!r} of {owner}; it has {known}"
    missing: str = "option {option} of {owner} is missing; give one such as {example}"
    wrong: str = "option {option} of {owner} must be {expected}; got {given!r}"
    beside: tuple[str, ...] = ()
    """Options that it has too, and that are read elsewhere."""


def parse_options(given: Mapping[str, str], declared: Sequence[Option], owner: Owner) -> dict[str, Any]:
    """Read all declared options from the texts given.

    >>> declared = (Option("rows", whole_number(1, 9), "5"), Option("header", truth_value()))
    >>> parse_options({"header": "True"}, declared, Owner("connector 'fax'"))
    {'rows': 5, 'header': True}
    >>> parse_options({"heder": "true"}, declared, Owner("connector 'fax'"))
    Traceback (most recent call last):
    ...
    skerry.errors.OptionError: unknown option 'heder' of connector 'fax'; it has header, rows; did you mean 'header'?
    >>> parse_options({"rows": "10"}, declared, Owner("connector 'fax'"))
    Traceback (most recent call last):
    ...
    skerry.errors.OptionError: option rows of connector 'fax' must be a whole number from 1 to 9; got '10'
    """
    names = sorted(option.name for option in declared)
    for name in given:
        if name not in names:
            known = sorted([*names, *owner.beside])
            message = owner.unknown.format(option=name, owner=owner.name, known=", ".join(known) or "none")
            raise OptionError(message + suggest(name, known))
    return {option.name: parse_option(given.get(option.name), option, owner) for option in declared}


def parse_option(given: str | None, option: Option, owner: Owner) -> Any:
    """Read one option. Where there is no default, an empty text counts as not given."""
    written = option.default if given is None else given
    if not written and option.default is None:
        if option.required:
            raise OptionError(owner.missing.format(option=option.name, owner=owner.name, example=option.example))
        return None
    assert written is not None
    value = option.parser.read(written)
    if value is None:
        words = {"expected": option.parser.expected, "known": ", ".join(option.parser.known), "given": written}
        message = owner.wrong.format(option=option.name, owner=owner.name, **words)
        raise OptionError(message + suggest(written, option.parser.known))
    return value


def suggest(name: str, known: Sequence[str]) -> str:
    """End a message with the known name that is nearest, if one is near.

    >>> suggest("fiel", ("file", "sim")), suggest("fax", ("file", "sim"))
    ("; did you mean 'file'?", '')
    """
    near = get_close_matches(name, known, n=1)
    return f"; did you mean {near[0]!r}?" if near else ""


def text() -> Parser:
    """Any text."""
    return Parser(str, "a text")


def whole_number(least: int, most: int) -> Parser:
    """A whole number in a range, written in digits."""

    def read(written: str) -> int | None:
        return int(written) if re.fullmatch(r"[0-9]{1,19}", written) and least <= int(written) <= most else None

    return Parser(read, f"a whole number from {least} to {most}")


def size_in_bytes() -> Parser:
    """So many bytes, perhaps with a unit: 500000, 200 MB, 1.5 GB."""
    pattern = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,3})?) ?(B|kB|MB|GB|TB)?", re.IGNORECASE)

    def read(written: str) -> int | None:
        found = pattern.fullmatch(written)
        return round(float(found[1]) * _BYTES[(found[2] or "B").upper()]) if found else None

    return Parser(read, "a number of bytes such as '200 MB' or '1.5 GB'")


def number(least: float, most: float) -> Parser:
    """A number in a range, perhaps with a fraction and an exponent."""
    pattern = re.compile(r"[0-9]+(\.[0-9]*)?(e-?[0-9]+)?")

    def read(written: str) -> float | None:
        return float(written) if pattern.fullmatch(written) and least <= float(written) <= most else None

    return Parser(read, f"a number from {least:g} to {most:g}")


def truth_value() -> Parser:
    """True or false, in any case."""
    return Parser(lambda written: _TRUTH.get(written.lower()), "'true' or 'false'")


def span_of_time(least_us: int, most_us: int) -> Parser:
    """A span such as 250ms, in microseconds."""

    def read(written: str) -> Micros | None:
        span_us = span(written)
        return span_us if span_us is not None and least_us <= span_us <= most_us else None

    limits = f"from {show_span(least_us)} to {show_span(most_us)}"
    return Parser(read, f"a span of time such as '250ms', '1s' or '10min', {limits}")


def moment() -> Parser:
    """A time, in UTC unless it names an offset."""

    def read(written: str) -> Micros | None:
        try:
            found = datetime.fromisoformat(written)
        except ValueError:
            return None
        aware = found if found.tzinfo else found.replace(tzinfo=UTC)
        return Micros((aware - _EPOCH) // timedelta(microseconds=1))

    return Parser(read, "a time such as '2000-06-05 06:00:00'")


def one_of(*values: str) -> Parser:
    """One of some words, as they are written."""
    return Parser(lambda written: written if written in values else None, f"one of {', '.join(values)}", values)


def character() -> Parser:
    r"""One ASCII character that can separate fields; a tab may be written as ``\t``."""

    def read(written: str) -> str | None:
        found = "\t" if written == r"\t" else written
        return found if len(found) == 1 and found.isascii() and found not in '"\r\n\0' else None

    return Parser(read, "one ASCII character, no quote and no line end")
