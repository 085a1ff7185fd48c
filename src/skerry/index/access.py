"""What boxes can be found by: a value of an operand that they ask for, or a run of bytes in its texts."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from skerry.index.gram_lists import GRAM, list_grams
from skerry.index.point_lists import Key
from skerry.index.region import Box, Operand
from skerry.index.value_sets import ValueSet

__all__ = ["GRAMS", "TEXTS", "VALUES", "Access", "expand", "list_alike_points", "list_points", "list_runs"]

VALUES, TEXTS, GRAMS = "values", "texts", "grams"


class Access(NamedTuple):
    """The values of an operand, its texts, or runs of bytes in them."""

    operand: Operand
    kind: str


def list_points(sides: Mapping[Operand, ValueSet]) -> list[tuple[Access, Key]]:
    """The sides of a box that are one value.

    >>> list_points({"speed": ValueSet(((0, 30),)), "road": ValueSet(((b"i80", b"i80" + bytes(1)),))})
    [(Access(operand='road', kind='texts'), b'i80')]
    """
    found: list[tuple[Access, Key]] = []
    for operand, values in sides.items():
        key = _find_point(values)
        if key is not None:
            found.append((Access(operand, TEXTS if isinstance(key, bytes) else VALUES), key))
    return found


def list_alike_points(sides: Mapping[Operand, ValueSet]) -> list[tuple[Access, Sequence[Key | None]]]:
    """The same of boxes that are alike, in columns; None for a box whose side is more than one value."""
    found: list[tuple[Access, Sequence[Key | None]]] = []
    for operand, values in sides.items():
        if values.null or len(values.spans) != 1:
            continue
        ((lows, highs),) = values.spans
        is_text = isinstance(lows[0], bytes)
        cuts = zip(lows.tolist(), highs.tolist(), strict=True)
        if is_text:
            keys = [low if high == low + b"\0" else None for low, high in cuts]
        else:
            keys = [low if high - low == 1 else None for low, high in cuts]
        if keys.count(None) < len(keys):
            found.append((Access(operand, TEXTS if is_text else VALUES), keys))
    return found


def list_runs(box: Box) -> list[tuple[Access, Key]]:
    """The runs of bytes that a text in a box must have."""
    if box.contained is None or len(box.contained[1]) < GRAM:
        return []
    access = Access(box.contained[0], GRAMS)
    return [(access, gram) for gram in list_grams(box.contained[1])]


def expand(operand: Operand, values: ValueSet) -> tuple[Access, list[Key]]:
    """All values of a list."""
    if isinstance(values.spans[0][0], bytes):
        return Access(operand, TEXTS), [low for low, _ in values.spans]
    return Access(operand, VALUES), [key for low, high in values.spans for key in range(low, high)]


def _find_point(values: ValueSet) -> Key | None:
    """The only value of a set; None if there are others, or NULL."""
    spans, null = values
    if null or len(spans) != 1:
        return None
    ((low, high),) = spans
    is_one = high == low + b"\0" if isinstance(low, bytes) else high - low == 1
    return low if is_one else None
