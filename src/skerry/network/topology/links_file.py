"""Links from a CSV file with columns ``from,to[,loss]``, and positions from one with ``mote,x,y``."""

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path

from skerry.errors import InputError
from skerry.network.topology.topology import Position, Topology

__all__ = ["read_links"]

_Row = tuple[str, dict[str, str]]


def read_links(path: Path, positions: Path | None = None) -> Topology:
    """The topology of a file. Every link goes both ways.

    A loss holds for its direction; for the other one too, unless that has a row of its own. Motes are numbered from 0
    without gaps.
    """
    losses: dict[tuple[int, int], float | None] = {}
    for where, row in _read(path, ("from", "to")):
        link = _number(row["from"], where), _number(row["to"], where)
        loss = _loss(row.get("loss"), where)
        if losses.setdefault(link, loss) != loss:
            raise InputError(
                f"{where}: link {link[0]} to {link[1]} has a loss of {loss} here, of {losses[link]} before"
            )
    size = _count_motes(losses, path)
    both_ways = {(other, one): loss for (one, other), loss in losses.items()} | losses
    own = {link: loss for link, loss in both_ways.items() if loss is not None}
    found = None if positions is None else _read_positions(positions, size)
    return Topology.of_links(size, losses, found, own, name=f"file:{path.name}")


def _read(path: Path, wanted: Sequence[str]) -> Iterator[_Row]:
    """Rows with where they stand."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            rows = csv.DictReader(file, skipinitialspace=True)
            missing = [name for name in wanted if name not in (rows.fieldnames or ())]
            if missing:
                got = ", ".join(rows.fieldnames or ()) or "none"
                raise InputError(f"{path}: no column {missing[0]!r}; its columns: {got}")
            for row in rows:
                if None in row or None in row.values():
                    raise InputError(f"{path}, line {rows.line_num}: not as many values as columns")
                yield f"{path}, line {rows.line_num}", row
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path} cannot be read: {error}") from error


def _number(text: str, where: str) -> int:
    if not (text.strip().isascii() and text.strip().isdigit()):
        raise InputError(f"{where}: a mote is a whole number from 0 on; got {text!r}")
    return int(text)


def _loss(text: str | None, where: str) -> float | None:
    if text is None or not text.strip():
        return None
    loss = _float(text, where)
    if not 0.0 <= loss <= 1.0:
        raise InputError(f"{where}: loss is a probability, from 0 to 1; got {text!r}")
    return loss


def _float(text: str, where: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise InputError(f"{where}: not a number: {text!r}") from error


def _count_motes(links: dict[tuple[int, int], float | None], path: Path) -> int:
    motes = {mote for link in links for mote in link}
    for number in range(len(motes)):
        if number not in motes:
            raise InputError(f"{path}: motes are numbered from 0 without gaps; {number} has no link, {max(motes)} has")
    return len(motes)


def _read_positions(path: Path, size: int) -> list[Position]:
    found: dict[int, Position] = {}
    for where, row in _read(path, ("mote", "x", "y")):
        mote = _number(row["mote"], where)
        if mote >= size or mote in found:
            raise InputError(f"{where}: mote {mote} {'is there twice' if mote in found else 'has no link'}")
        found[mote] = (_float(row["x"], where), _float(row["y"], where))
    for mote in range(size):
        if mote not in found:
            raise InputError(f"{path}: mote {mote} has no position")
    return [found[mote] for mote in range(size)]
