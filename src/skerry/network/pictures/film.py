"""A run as a film: one HTML file that needs nothing else, with a canvas, a slider over time, and counters."""

import json
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from skerry.errors import OptionError
from skerry.network.message import Kind
from skerry.network.pictures.colours import ANSWER, KIND_COLOURS
from skerry.network.pictures.scene import Scene

__all__ = ["MOST_SHOWN", "describe_scene", "make_film", "write_film"]

MOST_SHOWN = 100_000
"""A film shows no more transmissions than these, and says so: a page of more would be too slow."""


def write_film(scene: Scene, path: Path) -> None:
    """Write a film."""
    try:
        path.write_text(make_film(scene), encoding="utf-8")
    except OSError as error:
        raise OptionError(f"cannot write the film {str(path)!r}: {error.strerror}") from None


def make_film(scene: Scene) -> str:
    """The text of an HTML file."""
    page = files("skerry.network.pictures").joinpath("film.html").read_text(encoding="utf-8")
    # Within a script element only "</" and "<!--" mean something to the page; in JSON "<" can be written as an escape.
    data = json.dumps(describe_scene(scene), separators=(",", ":")).replace("<", "\\u003c")
    return page.replace("{{title}}", escape(scene.title)).replace("{{data}}", data)


def describe_scene(scene: Scene) -> dict[str, Any]:
    """What the page plays. A transmission: [time, sender, receiver or -1, kind, [mote, time, ...], [missed, ...]]."""
    kinds, shown = list(Kind), scene.transmissions[:MOST_SHOWN]
    return {
        "title": scene.title,
        "details": scene.details,
        "points": [[round(float(x), 5), round(float(y), 5)] for x, y in scene.points],
        "spacing": round(scene.spacing, 5),
        "links": [list(link) for link in scene.links],
        "steps": [list(step) for step in sorted(scene.steps)],
        "answer": ANSWER,
        "kinds": [[kind.value, KIND_COLOURS[kind]] for kind in kinds],
        "total": len(scene.transmissions),
        "sent": [
            [
                each.time_us,
                each.sender,
                -1 if each.receiver is None else each.receiver,
                kinds.index(each.kind),
                [number for pair in each.heard for number in pair],
                _list_deaf(scene, each.sender, each.receiver, {mote for mote, _ in each.heard}),
            ]
            for each in shown
        ],
    }


def _list_deaf(scene: Scene, sender: int, receiver: int | None, heard: set[int]) -> list[int]:
    """Who could have heard a transmission, and did not."""
    meant = scene.topology.neighbours[sender] if receiver is None else (receiver,)
    return [mote for mote in meant if mote not in heard]
