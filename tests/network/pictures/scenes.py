"""A small run to draw: mote 1 of three in a row speaks to both, one of which answers and is not heard."""

from skerry.network.message import Kind
from skerry.network.pictures.scene import Scene
from skerry.network.topology.grid import make_grid
from skerry.network.trace import Transmission

SENT = [Transmission(0, 1, None, Kind.STORAGE, 13, [(0, 5), (2, 6)]), Transmission(6, 2, 1, Kind.RESULT, 15)]


def make_scene(title: str = "paths.dl", topology=None, sent=SENT, steps=frozenset({(1, 0)})) -> Scene:
    return Scene(topology or make_grid(1, 3), sent, title, "3 motes", steps)
