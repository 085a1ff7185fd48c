"""Links that come and go during a run, and motes that die and are back: from a file, and done in time."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from skerry.errors import InputError
from skerry.model.time import MICROS
from skerry.network.network import Network
from skerry.network.topology.csv_rows import read_mote, read_number, read_rows

__all__ = ["LinkChange", "read_link_changes", "schedule_changes"]

_OPERATIONS = {"+": True, "-": False}


@dataclass(frozen=True)
class LinkChange:
    """A link comes or goes; where ``other`` is None, a mote is back or dies."""

    time_us: int
    mote: int
    other: int | None
    is_up: bool


def read_link_changes(path: Path, motes: int) -> list[LinkChange]:
    """Changes from a CSV file with columns ``time,from,to,op``: seconds from the start, two motes, ``+`` or ``-``.

    An empty ``to`` stands for the mote ``from`` itself.
    """
    changes = []
    for where, row in read_rows(path, ("time", "from", "to", "op")):
        seconds, mote = read_number(row["time"], where), read_mote(row["from"], where)
        other = read_mote(row["to"], where) if row["to"].strip() else None
        if seconds < 0:
            raise InputError(f"{where}: time is seconds from the start of a run; got {row['time']!r}")
        if row["op"].strip() not in _OPERATIONS:
            raise InputError(f"{where}: op is + (is there) or - (is gone); got {row['op']!r}")
        if max(mote, other or 0) >= motes or mote == other:
            raise InputError(f"{where}: a link joins two different motes of 0 to {motes - 1}; got {mote} and {other}")
        time_us = round(seconds * MICROS["SECOND"])
        changes.append(LinkChange(time_us, mote, other, _OPERATIONS[row["op"].strip()]))
    return changes


def schedule_changes(network: Network, changes: Iterable[LinkChange]) -> None:
    """Have links change in time. What is so already stays so."""
    for change in changes:
        network.simulation.at(change.time_us, _change, network, change)


def _change(network: Network, change: LinkChange) -> None:
    if change.other is None:
        if network.boards[change.mote].is_alive != change.is_up:
            (network.revive if change.is_up else network.kill)(change.mote)
    elif (change.other in network.topology.neighbours[change.mote]) != change.is_up:
        (network.join if change.is_up else network.cut)(change.mote, change.other)
