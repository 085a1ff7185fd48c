"""What a kind of mote is: what it measures, where it stands, which programs it has.

A kind has no state. What a mote measures is a function of the seed, the number of the mote and the time, so that any
reading of any run can be had again afterwards, and checked.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from skerry.model.arrays import Int64s
from skerry.model.time import Micros
from skerry.sensors.program import Program

__all__ = ["Kind", "Measured", "list_periods"]


@dataclass(frozen=True)
class Measured:
    """What a program made of its samples, an entry per reading, in the order in which they are ready to be sent.

    ``time_us`` is the event time; ``ready_us`` is later where a reading is about a span. NaN in a column is "no value".
    """

    time_us: Int64s
    ready_us: Int64s
    columns: Mapping[str, NDArray[Any]]

    def list_rows(self) -> list[dict[str, Any]]:
        """Give the columns of each reading, NaN as None.

        >>> Measured(np.array([7]), np.array([8]), {"flow": np.array([2]), "speed": np.array([np.nan])}).list_rows()
        [{'flow': 2, 'speed': None}]
        """
        lists = [[None if value != value else value for value in each.tolist()] for each in self.columns.values()]
        return [dict(zip(self.columns, values, strict=True)) for values in zip(*lists, strict=True)]


class Kind(Protocol):
    """A kind of mote. ``programs`` has ``raw`` first; ``units`` are those of its columns."""

    @property
    def name(self) -> str:
        """The word for it, of which the names of its motes are made."""
        ...

    @property
    def units(self) -> Mapping[str, str]:
        """The units of its columns, where they have one."""
        ...

    @property
    def programs(self) -> tuple[Program, ...]:
        """What it can do with its samples."""
        ...

    @property
    def sample_period_us(self) -> Micros:
        """How often it samples if nobody says otherwise."""
        ...

    def locate(self, seed: int, index: int) -> tuple[float, float]:
        """Give latitude and longitude of a mote."""
        ...

    def measure(
        self, seed: int, index: int, program: str, first_us: Micros, stop_us: Micros, period_us: Micros
    ) -> Measured:
        """Give the readings that a mote's program has ready from ``first_us`` until before ``stop_us``."""
        ...


def list_periods(first_us: Micros, stop_us: Micros, period_us: Micros) -> Int64s:
    """List the ends of whole periods, counted from 1970, from ``first_us`` until before ``stop_us``.

    >>> list_periods(Micros(5), Micros(20), Micros(5)).tolist()
    [5, 10, 15]
    """
    return np.arange(-(-first_us // period_us), -(-stop_us // period_us)) * period_us
