"""Links that were measured: lines ``from to delivered``, as of the Intel Lab, and positions as lines ``mote x y``."""

from pathlib import Path

from skerry.errors import InputError
from skerry.network.topology.topology import Position, Topology

__all__ = ["read_measured"]

_Delivered = dict[tuple[int, int], float]


def read_measured(path: Path, positions: Path | None = None, least: float = 0.5) -> Topology:
    """The links of a file of measured shares of delivered messages.

    A link is there if both directions deliver at least the share ``least``; a direction that was not measured counts
    as the other one. Its loss is 1 minus that share, per direction. Motes without a position are left out, if there
    are positions, and so are those without a link. The rest are numbered from 0 in the order of their numbers.
    """
    if not 0.0 < least <= 1.0:
        raise InputError(f"the least share of delivered messages is above 0, up to 1; got {least:g}")
    where = None if positions is None else _read_positions(positions)
    links = _find_links(_read_delivered(path), least)
    if where is not None:
        links = {link: share for link, share in links.items() if link[0] in where and link[1] in where}
    numbers = {mote: number for number, mote in enumerate(sorted({mote for link in links for mote in link}))}
    losses = {(numbers[one], numbers[other]): 1.0 - share for (one, other), share in links.items()}
    found = None if where is None else [where[mote] for mote in numbers]
    return Topology.of_links(len(numbers), losses, found, losses, name=f"measured:{path.name}")


def _find_links(delivered: _Delivered, least: float) -> _Delivered:
    both_ways = {(other, one): share for (one, other), share in delivered.items()} | delivered
    return {
        (one, other): share
        for (one, other), share in both_ways.items()
        if one != other and min(share, both_ways[other, one]) >= least
    }


def _read_delivered(path: Path) -> _Delivered:
    found: _Delivered = {}
    for where, (one, other, share) in _read_numbers(path, may_be_unmeasured=True):
        if not 0.0 <= share <= 1.0:
            raise InputError(f"{where}: a share of messages is from 0 to 1; got {share:g}")
        found[_mote(one, where), _mote(other, where)] = share
    return found


def _read_positions(path: Path) -> dict[int, Position]:
    return {_mote(mote, where): (x, y) for where, (mote, x, y) in _read_numbers(path)}


def _mote(number: float, where: str) -> int:
    if not (number.is_integer() and number >= 0):
        raise InputError(f"{where}: a mote is a whole number from 0 on; got {number:g}")
    return int(number)


def _read_numbers(path: Path, may_be_unmeasured: bool = False) -> list[tuple[str, tuple[float, float, float]]]:
    """Lines of three numbers, with where they stand. Empty lines are left out, and two motes without a share."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: {error}") from error
    found = []
    for number, line in enumerate(lines, start=1):
        if line.strip() and not (may_be_unmeasured and len(line.split()) == 2):
            found.append((f"{path}, line {number}", _three(line, f"{path}, line {number}")))
    return found


def _three(line: str, where: str) -> tuple[float, float, float]:
    try:
        first, second, third = map(float, line.split())
    except ValueError as error:
        raise InputError(f"{where}: not three numbers: {line.strip()!r}") from error
    return first, second, third
