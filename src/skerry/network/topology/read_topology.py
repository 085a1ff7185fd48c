"""A topology from its text: ``grid:7x7``, ``geometric:200:0.12``, ``holes:...``, ``tree:40:3``, ``file:LINKS.csv``."""

from collections.abc import Callable
from pathlib import Path

from skerry.errors import InputError
from skerry.network.topology.geometric import make_field_with_hole, make_geometric
from skerry.network.topology.grid import make_grid
from skerry.network.topology.links_file import read_links
from skerry.network.topology.measured import read_measured
from skerry.network.topology.topology import Topology
from skerry.network.topology.tree import make_tree

__all__ = ["TOPOLOGY_FORMS", "read_topology"]

_MOST_MOTES = 1_000_000


def read_topology(text: str) -> Topology:
    """What a text means.

    >>> read_topology("grid:2x3").neighbours[1], read_topology("tree:7:2").neighbours[1]
    ((0, 2, 4), (0, 3, 4))
    >>> read_topology("ring:5")
    Traceback (most recent call last):
    skerry.errors.InputError: unknown topology 'ring:5'; known: file:LINKS.csv[:POSITIONS.csv], \
geometric:MOTES:RANGE[:SEED], grid:ROWSxCOLUMNS, holes:MOTES:RANGE[:SEED], \
measured:DELIVERED.txt[:POSITIONS.txt[:LEAST]], tree:MOTES:FANOUT[:SEED]
    """
    kind, _, rest = text.partition(":")
    if kind not in _READERS:
        raise InputError(f"unknown topology {text!r}; known: {', '.join(TOPOLOGY_FORMS)}")
    form, read = _READERS[kind]
    try:
        return read(rest.split(":"))
    except (ValueError, TypeError, OverflowError) as error:
        raise InputError(f"a topology of this kind is written {form}; got {text!r}") from error


def _grid(parts: list[str]) -> Topology:
    (size,) = parts
    rows, columns = map(_whole, size.split("x"))
    if rows < 1 or columns < 1:
        raise ValueError(size)
    return make_grid(_size(rows * columns) // columns, columns)


def _geometric(parts: list[str]) -> Topology:
    size, reach, *seed = parts
    return make_geometric(_size(_whole(size)), float(reach), *map(_whole, seed))


def _holes(parts: list[str]) -> Topology:
    size, reach, *seed = parts
    return make_field_with_hole(_size(_whole(size)), float(reach), *map(_whole, seed))


def _tree(parts: list[str]) -> Topology:
    size, fan_out, *seed = parts
    return make_tree(_size(_whole(size)), _whole(fan_out), *map(_whole, seed))


def _file(parts: list[str]) -> Topology:
    links, *positions = parts
    if not links:
        raise ValueError(links)
    return read_links(Path(links), *map(Path, positions))


def _measured(parts: list[str]) -> Topology:
    links, *rest = parts
    if not links or len(rest) > 2:
        raise ValueError(parts)
    positions = Path(rest[0]) if rest else None
    return read_measured(Path(links), positions, *map(float, rest[1:]))


def _whole(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise ValueError(text)
    return int(text)


def _size(motes: int) -> int:
    if motes > _MOST_MOTES:
        raise InputError(f"{motes:,} motes are more than can be simulated; at most {_MOST_MOTES:,}")
    return motes


_READERS: dict[str, tuple[str, Callable[[list[str]], Topology]]] = {
    "file": ("file:LINKS.csv[:POSITIONS.csv]", _file),
    "geometric": ("geometric:MOTES:RANGE[:SEED]", _geometric),
    "grid": ("grid:ROWSxCOLUMNS", _grid),
    "holes": ("holes:MOTES:RANGE[:SEED]", _holes),
    "measured": ("measured:DELIVERED.txt[:POSITIONS.txt[:LEAST]]", _measured),
    "tree": ("tree:MOTES:FANOUT[:SEED]", _tree),
}
TOPOLOGY_FORMS = tuple(form for form, _ in _READERS.values())
"""How topologies are written."""
