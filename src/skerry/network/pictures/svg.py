"""A run as one picture: motes by load, links by traffic, and the links that the answers name. SVG, written by hand."""

from collections.abc import Iterator
from html import escape
from math import hypot, sqrt
from pathlib import Path

from skerry.errors import OptionError
from skerry.network.pictures.colours import ANSWER, INK, LINK, PALE_INK, USED_LINK, shade
from skerry.network.pictures.scene import Link, Scene

__all__ = ["draw_scene", "write_picture"]

_FIELD, _LEFT, _TOP = 720.0, 52.0, 112.0
_LEGEND = _LEFT + _FIELD + 64.0
_WIDTH, _HEIGHT = _LEGEND + 232.0, _TOP + _FIELD + 52.0
_WIDEST, _FEW = 7.0, 8
"""A link is as wide as that at the most; where no link had even a few messages, it is thinner."""
_LEAST_LABELLED = 6.5
"""The radius of a mote that has room for its number."""
_FONT = "Inter, 'Helvetica Neue', Helvetica, Arial, 'DejaVu Sans', sans-serif"


def write_picture(scene: Scene, path: Path) -> None:
    """Write a picture."""
    try:
        path.write_text(draw_scene(scene), encoding="utf-8")
    except OSError as error:
        raise OptionError(f"cannot write the picture {str(path)!r}: {error.strerror}") from None


def draw_scene(scene: Scene) -> str:
    """The text of an SVG file."""
    parts = [*_draw_head(scene), *_draw_links(scene), *_draw_steps(scene), *_draw_motes(scene), *_draw_legend(scene)]
    return "\n".join([*parts, "</svg>\n"])


def _draw_head(scene: Scene) -> Iterator[str]:
    size = f'width="{_WIDTH:.0f}" height="{_HEIGHT:.0f}" viewBox="0 0 {_WIDTH:.0f} {_HEIGHT:.0f}"'
    yield f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="{_FONT}">'
    yield '<rect width="100%" height="100%" fill="#ffffff"/>'
    yield _text(_LEFT - 20, 44, scene.title, 22, INK, "600")
    yield _text(_LEFT - 20, 70, scene.details, 14, PALE_INK)


def _draw_links(scene: Scene) -> Iterator[str]:
    """All links, pale; over them those that were used, as wide as the share of the traffic says."""
    most = max(scene.traffic.values(), default=1)
    yield f'<g stroke="{LINK}" stroke-width="1.5" stroke-dasharray="3 4">'
    yield from (_line(scene, link) for link in scene.links if link not in scene.traffic)
    yield f'</g><g stroke="{USED_LINK}" stroke-linecap="round">'
    for link, messages in sorted(scene.traffic.items()):
        yield _line(scene, link, f' stroke-width="{_width(messages, most):.2f}"', f"{messages:,} messages")
    yield "</g>"


def _draw_steps(scene: Scene) -> Iterator[str]:
    """An arrow per link that answers name, from its middle part, so that it can be seen beside the motes."""
    size = max(3.0, min(9.0, 0.11 * scene.spacing * _FIELD))
    yield f'<g stroke="{ANSWER}" fill="{ANSWER}" stroke-width="{max(1.0, size / 4):.2f}" stroke-linecap="round">'
    yield from (_draw_arrow(scene, step, size) for step in sorted(scene.steps))
    yield "</g>"


def _draw_arrow(scene: Scene, step: Link, size: float) -> str:
    (x1, y1), (x2, y2) = (_locate(scene, mote) for mote in step)
    length = hypot(x2 - x1, y2 - y1) or 1.0
    ux, uy = (x2 - x1) / length, (y2 - y1) / length
    margin = min(_most_radius(scene) + 2.0, 0.3 * length)
    sx, sy, tx, ty = x1 + ux * margin, y1 + uy * margin, x2 - ux * margin, y2 - uy * margin
    bx, by = tx - ux * size, ty - uy * size
    wing_x, wing_y = -uy * size * 0.45, ux * size * 0.45
    head = f"M{tx:.1f} {ty:.1f}L{bx + wing_x:.1f} {by + wing_y:.1f}L{bx - wing_x:.1f} {by - wing_y:.1f}Z"
    return f'<line x1="{sx:.1f}" y1="{sy:.1f}" x2="{bx:.1f}" y2="{by:.1f}"/><path d="{head}" stroke="none"/>'


def _draw_motes(scene: Scene) -> Iterator[str]:
    most = max(scene.loads, default=0) or 1
    labelled = _radius(scene, 0.0) >= _LEAST_LABELLED
    yield '<g stroke-width="1.2">'
    for mote, load in enumerate(scene.loads):
        (x, y), radius = _locate(scene, mote), _radius(scene, load / most)
        style = f'fill="{shade(load / most)}" stroke="{"#ffffff" if load else USED_LINK}"'
        title = f"<title>mote {mote}: {load:,} messages</title>"
        yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" {style}>{title}</circle>'
    yield "</g>"
    for mote, load in enumerate(scene.loads if labelled else ()):
        (x, y), share = _locate(scene, mote), load / most
        size = max(7.0, min(12.0, 0.9 * _radius(scene, share)))
        yield _text(x, y + size * 0.36, str(mote), size, "#ffffff" if share > 0.45 else INK, anchor="middle")


def _draw_legend(scene: Scene) -> Iterator[str]:
    y = _TOP + 6
    yield _text(_LEGEND, y, "Messages sent", 14, INK, "600")
    total = sum(scene.kinds.values())
    for number, (kind, count) in enumerate([*scene.kinds.items(), ("in all", total)], 1):
        yield _text(_LEGEND, y + 22 * number, str(kind), 13, PALE_INK)
        yield _text(_LEGEND + 180, y + 22 * number, f"{count:,}", 13, INK, anchor="end")
    yield from _draw_load_legend(scene, y + 22 * (len(scene.kinds) + 1) + 44)


def _draw_load_legend(scene: Scene, y: float) -> Iterator[str]:
    most = max(scene.loads, default=0)
    yield _text(_LEGEND, y, "Messages per mote", 14, INK, "600")
    for number in range(30):
        yield f'<rect x="{_LEGEND + 6 * number}" y="{y + 14}" width="6.3" height="12" fill="{shade(number / 29)}"/>'
    yield _text(_LEGEND, y + 44, "0", 12, PALE_INK)
    mean = sum(scene.loads) / max(1, len(scene.loads))
    yield _text(_LEGEND + 90, y + 44, f"mean {mean:.3g}", 12, PALE_INK, anchor="middle")
    yield _text(_LEGEND + 180, y + 44, f"{most:,}", 12, PALE_INK, anchor="end")
    yield from _draw_link_legend(scene, y + 92)


def _draw_link_legend(scene: Scene, y: float) -> Iterator[str]:
    most = max(scene.traffic.values(), default=0)
    yield _text(_LEGEND, y, "Messages heard per link", 14, INK, "600")
    samples = sorted({1, max(1, most // 4), max(1, most)}) if most else []
    for number, messages in enumerate(samples):
        style = f'stroke="{USED_LINK}" stroke-width="{_width(messages, most):.2f}" stroke-linecap="round"'
        row = y + 22 + 22 * number
        yield f'<line x1="{_LEGEND + 2}" y1="{row}" x2="{_LEGEND + 50}" y2="{row}" {style}/>'
        yield _text(_LEGEND + 64, row + 4, f"{messages:,}", 13, INK)
    row = y + 26 + 22 * len(samples)
    style = f'stroke="{LINK}" stroke-width="1.5" stroke-dasharray="3 4"'
    yield f'<line x1="{_LEGEND + 2}" y1="{row}" x2="{_LEGEND + 50}" y2="{row}" {style}/>'
    yield _text(_LEGEND + 64, row + 4, "not used", 13, PALE_INK)
    if scene.steps:
        yield f'<path d="M{_LEGEND + 2} {row + 28}h40" stroke="{ANSWER}" stroke-width="2"/>'
        yield f'<path d="M{_LEGEND + 52} {row + 28}l-10 -4.5v9Z" fill="{ANSWER}"/>'
        yield _text(_LEGEND + 64, row + 32, "an answer names it", 13, INK)


def _locate(scene: Scene, mote: int) -> tuple[float, float]:
    x, y = scene.points[mote]
    return _LEFT + _FIELD * float(x), _TOP + _FIELD * float(y)


def _most_radius(scene: Scene) -> float:
    return max(2.5, min(20.0, 0.3 * scene.spacing * _FIELD))


def _radius(scene: Scene, share: float) -> float:
    return _most_radius(scene) * (0.55 + 0.45 * sqrt(share))


def _width(messages: int, most: int) -> float:
    return 1.4 + (_WIDEST - 1.4) * messages / max(most, _FEW)


def _line(scene: Scene, link: Link, style: str = "", title: str = "") -> str:
    (x1, y1), (x2, y2) = (_locate(scene, mote) for mote in link)
    ends = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
    return f"<line {ends}{style}><title>{link[0]} and {link[1]}: {title}</title></line>" if title else f"<line {ends}/>"


def _text(x: float, y: float, text: str, size: float, colour: str, weight: str = "400", anchor: str = "start") -> str:
    style = f'font-size="{size:g}" fill="{colour}" font-weight="{weight}" text-anchor="{anchor}"'
    return f'<text x="{x:.1f}" y="{y:.1f}" {style}>{escape(text)}</text>'
