"""A field: motes that take readings, and a base station that wants the answers."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from skerry.catalog import Source
from skerry.errors import InputError
from skerry.model.arrays import Int64s
from skerry.model.network_options import NETWORK_OPTIONS
from skerry.model.options import Owner, parse_options
from skerry.network.radio import RadioSettings
from skerry.network.routing.shortest_paths import ShortestPaths
from skerry.network.topology.read_topology import read_topology
from skerry.network.topology.topology import Topology

__all__ = ["Field", "find_field", "find_lines", "locate_rows", "split_by_mote"]

_COLUMNS = ("mote", "node", "sensor")
"""Where the number of a reading's mote is looked for, if the source does not say."""


@dataclass(frozen=True)
class Field:
    """A connected topology, its base station, and how its radio is.

    Motes know their next hop to every other, as a set-up phase would tell them; that phase is not counted.

    >>> from skerry.network.topology.grid import make_grid
    >>> field = Field(make_grid(3, 3), 4)
    >>> field.depths.tolist()
    [2, 1, 2, 1, 0, 1, 2, 1, 2]
    """

    topology: Topology
    base: int
    radio: RadioSettings = field(default_factory=RadioSettings)
    seed: int = 0

    def __post_init__(self) -> None:
        """Every mote must reach the base station."""
        if not 0 <= self.base < len(self.topology):
            raise InputError(f"the base station is mote {self.base}; {self.describe_motes()}")
        if not self.topology.is_connected:
            raise InputError(f"{self.topology.name} is not connected: some motes cannot reach the base station")

    def describe_motes(self) -> str:
        """Which motes there are."""
        return f"{self.topology.name} has 0 to {len(self.topology) - 1}"

    @cached_property
    def depths(self) -> Int64s:
        """Hops from each mote to the base station."""
        return np.array(self.topology.distances_from(self.base))

    @cached_property
    def routes(self) -> ShortestPaths:
        """The next hop from a mote to another."""
        return ShortestPaths(self.topology)

    @cached_property
    def lines(self) -> tuple[Sequence[Sequence[int]], Sequence[Sequence[int]]] | None:
        """The rows and the columns of a grid, as lists of motes; None if it is none."""
        return find_lines(self.topology)


def find_lines(topology: Topology) -> tuple[list[list[int]], list[list[int]]] | None:
    """The rows and columns of a full grid with a mote at each crossing, whose neighbours are linked.

    >>> from skerry.network.topology.grid import make_grid
    >>> find_lines(make_grid(2, 3))
    ([[0, 1, 2], [3, 4, 5]], [[0, 3], [1, 4], [2, 5]])
    """
    if topology.positions is None:
        return None
    rows, columns = (_group(topology, axis) for axis in (1, 0))
    straight = all(b in topology.neighbours[a] for line in rows + columns for a, b in pairwise(line))
    return (rows, columns) if straight and len(rows) * len(columns) == len(topology) else None


def _group(topology: Topology, axis: int) -> list[list[int]]:
    """Motes with the same coordinate, in the order of the other."""
    assert topology.positions is not None
    found: dict[float, list[int]] = {}
    for mote in sorted(range(len(topology)), key=lambda mote: topology.positions[mote][1 - axis]):  # type: ignore[index]
        found.setdefault(topology.positions[mote][axis], []).append(mote)
    return [found[key] for key in sorted(found)]


def find_field(sources: Sequence[Source], folder: Path) -> Field | None:
    """The field that sources are in; None if they are in none. Files of links are looked for from ``folder`` on."""
    declared = {source.name: source for source in sources if source.network}
    if not declared:
        return None
    if len({_describe_network(each) for each in declared.values()}) > 1:
        raise InputError(f"sources {', '.join(sorted(declared))} are read together, but are in different networks")
    source = next(iter(declared.values()))
    found = parse_options(source.network, NETWORK_OPTIONS, Owner(f"source {source.name!r}"))
    topology = read_topology(_anchor(found["topology"], folder))
    base = _find_middle(topology) if found["base_station"] is None else found["base_station"]
    radio = RadioSettings(loss=found["link_loss"], retries=found["link_retries"])
    return Field(topology, base, radio, found["link_seed"])


def _describe_network(source: Source) -> tuple[tuple[str, str], ...]:
    """What is said of its network, but for the name of a column, which may differ."""
    return tuple(sorted((name, value) for name, value in source.network.items() if name != "mote_column"))


def _anchor(text: str, folder: Path) -> str:
    """A topology whose files, if it has any, are looked for from a folder on."""
    kind, _, rest = text.partition(":")
    return ":".join([kind, *(str(folder / part) for part in rest.split(":"))]) if kind == "file" and rest else text


def _find_middle(topology: Topology) -> int:
    """The mote that is least far from the one that is farthest from it; of several, the one nearest to all."""
    hops = np.array([topology.distances_from(mote) for mote in range(len(topology))])
    return min(range(len(topology)), key=lambda mote: (hops[mote].max(), hops[mote].sum(), mote))


def locate_rows(source: Source, field: Field, readings: pa.RecordBatch) -> Int64s:
    """The mote of each reading; the base station, where a source is in no network.

    A mote is named by its number, or by a text that ends in it.
    """
    if not source.network:
        return np.full(readings.num_rows, field.base)
    column = readings.column(_find_mote_column(source))
    if not pa.types.is_integer(column.type):
        column = pc.struct_field(pc.extract_regex(column.cast(pa.string()), r"(?P<number>[0-9]{1,9})$"), "number")
    motes = column.cast(pa.int64())
    wrong = pc.or_kleene(pc.is_null(motes), pc.or_(pc.less(motes, 0), pc.greater_equal(motes, len(field.topology))))
    wrong = pc.fill_null(wrong, True)
    if pc.any(wrong).as_py():
        row = wrong.index(pa.scalar(True)).as_py()
        value = readings.column(_find_mote_column(source))[row].as_py()
        raise InputError(f"source {source.name!r} has a reading of mote {value!r}; {field.describe_motes()}")
    return motes.to_numpy(zero_copy_only=False)


def _find_mote_column(source: Source) -> str:
    given = source.network.get("mote_column")
    for name in (given,) if given else _COLUMNS:
        if name in source.schema.names:
            return name
    looked_for = given or " or ".join(_COLUMNS)
    raise InputError(
        f"source {source.name!r} has no column {looked_for}; say where the number of the mote is: mote_column = '...'"
    )


def split_by_mote(
    source: Source, field: Field, readings: pa.RecordBatch, route: Callable[[pa.RecordBatch], pa.RecordBatch]
) -> Iterator[tuple[int, pa.RecordBatch]]:
    """What each mote makes of its own readings, for motes that make anything of them."""
    motes = locate_rows(source, field, readings)
    order = np.argsort(motes, kind="stable")
    bounds = np.flatnonzero(np.diff(motes[order])) + 1
    for rows in np.split(order, bounds) if order.size else []:
        if (made := route(readings.take(pa.array(rows)))).num_rows:
            yield int(motes[rows[0]]), made
