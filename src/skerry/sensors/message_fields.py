"""Reads the fields of a message that comes from outside. A ``ValueError`` says which one is nonsense, and why."""

import reprlib
from collections.abc import Mapping
from math import isfinite
from typing import Any

__all__ = ["read_flag", "read_number", "read_ranges", "read_text", "read_texts", "read_units", "read_whole"]

_LONGEST_TEXT = 256
_MOST = 1_000
"""Columns, programs, units and intervals: more than any sensor has."""


def read_number(found: Mapping[str, Any], name: str, low: float, high: float) -> float | None:
    """A number within limits; None if it is not there.

    >>> read_number({"battery": 0.5}, "battery", 0, 1)
    0.5
    >>> read_number({"battery": "full"}, "battery", 0, 1)
    Traceback (most recent call last):
    ValueError: battery is a number from 0 to 1, got 'full'
    """
    value = found.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise _refuse(name, f"a number from {low} to {high}", value)
    return value


def read_whole(found: Mapping[str, Any], name: str, most: int) -> int | None:
    """A whole number from 0 on; None if it is not there."""
    value = found.get(name)
    if value is not None and (type(value) is not int or not 0 <= value <= most):
        raise _refuse(name, f"a whole number from 0 to {most}", value)
    return value


def read_flag(found: Mapping[str, Any], name: str) -> bool:
    """True or false; false if it is not there."""
    value = found.get(name)
    if value is not None and not isinstance(value, bool):
        raise _refuse(name, "true or false", value)
    return bool(value)


def read_text(found: Mapping[str, Any], name: str) -> str | None:
    """A text that can be written down; None if it is not there."""
    value = found.get(name)
    if value is not None and not _is_text(value):
        raise _refuse(name, f"a text of 1 to {_LONGEST_TEXT} characters", value)
    return value


def read_texts(found: Mapping[str, Any], name: str) -> tuple[str, ...] | None:
    """A list of texts; None if it is not there."""
    value = found.get(name)
    if value is None:
        return None
    if not isinstance(value, list | tuple) or len(value) > _MOST or not all(map(_is_text, value)):
        raise _refuse(name, "a list of texts", value)
    return tuple(value)


def read_units(found: Mapping[str, Any], name: str) -> dict[str, str]:
    """Texts by the names of columns; none if they are not there."""
    value = found.get(name)
    if value is None:
        return {}
    if not _is_mapping(value) or not all(map(_is_text, value.values())):
        raise _refuse(name, "texts by the names of columns", value)
    return dict(value)


def read_ranges(found: Mapping[str, Any], name: str) -> dict[str, tuple[tuple[float | None, float | None], ...]]:
    """Intervals by the names of columns; none if they are not there."""
    value = found.get(name)
    if value is None:
        return {}
    if not _is_mapping(value) or not all(map(_are_intervals, value.values())):
        raise _refuse(name, "lists of intervals [low, high] by the names of columns", value)
    return {column: tuple((low, high) for low, high in spans) for column, spans in value.items()}


def _is_text(value: object) -> bool:
    """Whether it is a text, and can be kept: half of a character of UTF-16 cannot."""
    return (
        isinstance(value, str)
        and 0 < len(value) <= _LONGEST_TEXT
        and not any("\ud800" <= each <= "\udfff" or each == "\0" for each in value)
    )


def _is_mapping(value: object) -> bool:
    return isinstance(value, Mapping) and len(value) <= _MOST and all(map(_is_text, value))


def _are_intervals(value: object) -> bool:
    return (
        isinstance(value, list | tuple)
        and len(value) <= _MOST
        and all(isinstance(each, list | tuple) and len(each) == 2 and all(map(_is_end, each)) for each in value)
    )


def _is_end(value: object) -> bool:
    if value is None:
        return True
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) < 1 << 64 if isinstance(value, int) else isfinite(value)


def _refuse(name: str, wanted: str, value: object) -> ValueError:
    return ValueError(f"{name} is {wanted}, got {reprlib.repr(value)}")
