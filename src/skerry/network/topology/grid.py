"""A grid: mote r * columns + c stands in row r and column c, and hears its four neighbours."""

from skerry.network.topology.topology import Topology

__all__ = ["make_grid"]


def make_grid(rows: int, columns: int) -> Topology:
    """A grid with links of length 1.

    >>> make_grid(2, 3).neighbours[1]
    (0, 2, 4)
    """
    right = [(r * columns + c, r * columns + c + 1) for r in range(rows) for c in range(columns - 1)]
    down = [(r * columns + c, (r + 1) * columns + c) for r in range(rows - 1) for c in range(columns)]
    positions = [(float(c), float(r)) for r in range(rows) for c in range(columns)]
    return Topology.of_links(rows * columns, right + down, positions, name=f"grid:{rows}x{columns}")
