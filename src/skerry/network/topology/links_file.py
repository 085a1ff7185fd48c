"""Links from a CSV file with columns ``from,to[,loss]``, and positions from one with ``mote,x,y``."""

from pathlib import Path

from skerry.errors import InputError
from skerry.network.topology.csv_rows import read_mote, read_number, read_rows
from skerry.network.topology.topology import Position, Topology

__all__ = ["read_links"]


def read_links(path: Path, positions: Path | None = None) -> Topology:
    """The topology of a file. Every link goes both ways.

    A loss holds for its direction; for the other one too, unless that has a row of its own. Motes are numbered from 0
    without gaps.
    """
    losses: dict[tuple[int, int], float | None] = {}
    for where, row in read_rows(path, ("from", "to")):
        link = read_mote(row["from"], where), read_mote(row["to"], where)
        if link[0] == link[1]:
            raise InputError(f"{where}: a link joins two different motes; got {link[0]} twice")
        loss = _read_loss(row.get("loss"), where)
        if losses.setdefault(link, loss) != loss:
            raise InputError(
                f"{where}: link {link[0]} to {link[1]} has a loss of {loss} here, of {losses[link]} before"
            )
    size = _count_motes(losses, path)
    both_ways = {(other, one): loss for (one, other), loss in losses.items()} | losses
    own = {link: loss for link, loss in both_ways.items() if loss is not None}
    found = None if positions is None else _read_positions(positions, size)
    return Topology.of_links(size, losses, found, own, name=f"file:{path.name}")


def _read_loss(text: str | None, where: str) -> float | None:
    if text is None or not text.strip():
        return None
    loss = read_number(text, where)
    if not 0.0 <= loss <= 1.0:
        raise InputError(f"{where}: loss is a probability, from 0 to 1; got {text!r}")
    return loss


def _count_motes(links: dict[tuple[int, int], float | None], path: Path) -> int:
    motes = {mote for link in links for mote in link}
    if not motes:
        raise InputError(f"{path}: there is no link")
    for number in range(len(motes)):
        if number not in motes:
            raise InputError(f"{path}: motes are numbered from 0 without gaps; {number} has no link, {max(motes)} has")
    return len(motes)


def _read_positions(path: Path, size: int) -> list[Position]:
    found: dict[int, Position] = {}
    for where, row in read_rows(path, ("mote", "x", "y")):
        mote = read_mote(row["mote"], where)
        if mote >= size or mote in found:
            raise InputError(f"{where}: mote {mote} {'is there twice' if mote in found else 'has no link'}")
        found[mote] = (read_number(row["x"], where), read_number(row["y"], where))
    for mote in range(size):
        if mote not in found:
            raise InputError(f"{path}: mote {mote} has no position")
    return [found[mote] for mote in range(size)]
