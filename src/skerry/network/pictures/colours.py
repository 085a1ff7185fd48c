"""Colours of pictures: one hue for load, from pale to dark, and one per kind of message."""

from collections.abc import Mapping

from skerry.network.message import Kind

__all__ = ["ANSWER", "INK", "KIND_COLOURS", "LINK", "PALE_INK", "USED_LINK", "shade"]

INK, PALE_INK = "#1f2933", "#66727f"
LINK, USED_LINK, ANSWER = "#cfd6de", "#a9b8c9", "#c8553d"
KIND_COLOURS: Mapping[Kind, str] = {
    Kind.STORAGE: "#2f6db0",
    Kind.JOIN: "#b8743a",
    Kind.RESULT: "#2f8f5b",
    Kind.RETRY: "#c2453d",
    Kind.CONTROL: "#7a6ba8",
}
_LEAST, _MIDDLE, _MOST = (236, 242, 249), (107, 159, 209), (16, 62, 115)


def shade(share: float) -> str:
    """The colour of a share from 0 to 1 of the greatest load.

    >>> shade(0.0), shade(1.0)
    ('#ecf2f9', '#103e73')
    """
    low, high, part = (_LEAST, _MIDDLE, 2 * share) if share < 0.5 else (_MIDDLE, _MOST, 2 * share - 1)
    return "#" + "".join(f"{round(a + (b - a) * part):02x}" for a, b in zip(low, high, strict=True))
