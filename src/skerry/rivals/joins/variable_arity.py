"""Variable arity: for each tuple the tuples of whichever other sensors share its key, in three ways.

Sensors come and go. One that is heard for the first time gets a table or a level; one of which no
tuple is left loses it again at a sweep.
"""

from abc import ABC, abstractmethod

import numpy as np

from skerry.errors import KernelError
from skerry.kernels.joins.chained_tables import (
    Records,
    chain_all,
    drop_ended,
    empty_chains,
    is_worth_sweeping,
    lay_out,
    pack_entries,
    with_tables,
)
from skerry.model.arrays import Int32s, Int64s
from skerry.model.time import Micros
from skerry.rivals.joins.match_lists import Lists, climb_levels, probe_tables, sweep_occurrences, walk_occurrences

__all__ = ["VariableArityMJoin", "VariableAritySNJoin", "VariableArityTechnique", "VariableArityTree"]

_MOST_SENSORS = 2**31
_FIRST_MOMENT, _LAST_MOMENT = -(2**63), 2**63 - 1


class VariableArityTechnique(ABC):
    """A way to list for each tuple the tuples of other sensors with its key that are no older than ``span_us``."""

    def __init__(self, span_us: int, limit: int) -> None:
        self.span_us, self.limit = span_us, limit
        self._chains = empty_chains(1)
        self._newest: int = _FIRST_MOMENT

    def arrive(self, sensors: Int32s, keys: Int64s, starts: Int64s, rows: Int64s) -> Lists:
        """Take tuples in, in order of time. The list of tuple i is ``rows[offsets[i]:offsets[i + 1]]`` of the answer.

        Of tuples with equal times the later one lists the earlier. Sensors are small numbers from 0.
        Raises ``LimitError`` if the lists of one call are longer than ``limit``.
        """
        ends = np.where(starts > _LAST_MOMENT - self.span_us, _LAST_MOMENT, starts + self.span_us)
        batch = pack_entries(sensors, keys, starts, ends, rows, _MOST_SENSORS)
        if batch.size:
            if starts[0] < self._newest or (starts[1:] < starts[:-1]).any():
                raise KernelError("tuples must come in order of time, got one before", self._newest)
            self._newest = int(starts[-1])
        return self._list_matches(batch)

    @abstractmethod
    def _list_matches(self, batch: Records) -> Lists:
        """Take tuples in whose tables are sensors; list."""

    @abstractmethod
    def sweep(self, watermark: Micros) -> None:
        """Forget the tuples that ended before ``watermark``, once they are many."""

    @property
    def live_count(self) -> int:
        """How many tuples it holds."""
        return self._chains.entry_count


class VariableAritySNJoin(VariableArityTechnique):
    """One table for all sensors: a tuple walks the occurrences of its value, newest first, until one has ended.

    What it costs is in proportion to its list, however many sensors there are.

    Ali, Aref, Kamel: Multi-way Joins for Sensor-Network Databases, 2005, section 3.1.

    >>> join, one = VariableAritySNJoin(span_us=10, limit=100), np.ones(2, np.int64)
    >>> offsets, rows = join.arrive(np.array([3, 5], np.int32), one, np.array([20, 25]), np.array([7, 8]))
    >>> offsets.tolist(), rows.tolist()
    ([0, 0, 1], [7])
    """

    def _list_matches(self, batch: Records) -> Lists:
        self._chains, lists = walk_occurrences(self._chains, batch, self.limit)
        return lists

    def sweep(self, watermark: Micros) -> None:
        """Forget, once they are many."""
        self._chains = sweep_occurrences(self._chains, watermark)


class _TablePerSensor(VariableArityTechnique):
    """A technique that probes one table per sensor, in the order of ``_sensors``."""

    def __init__(self, span_us: int, limit: int) -> None:
        super().__init__(span_us, limit)
        self._sensors: Int64s = np.empty(0, np.int64)
        self._tables: Int64s = np.empty(0, np.int64)
        self._watermark: int = _FIRST_MOMENT

    def sweep(self, watermark: Micros) -> None:
        """Forget, once they are many, and with them the sensors of which nothing is left."""
        self._watermark = watermark
        if is_worth_sweeping(self._chains):
            self._reorganise(self._sensors[:0])

    def _seat(self, batch: Records) -> None:
        """Replace sensors by their tables, and give tables to those that have none."""
        highest = int(batch["table"].max(initial=-1))
        if highest >= self._tables.size:
            self._tables = np.append(self._tables, np.full(highest + 1 - self._tables.size, -1))
        if (self._tables[batch["table"]] < 0).any():
            self._admit(np.unique(batch["table"]))
        batch["table"] = self._tables[batch["table"]]

    @abstractmethod
    def _admit(self, sensors: Int64s) -> None:
        """Give tables to all sensors of a batch, some of which are new."""

    def _number(self, sensors: Int64s) -> None:
        self._sensors = sensors
        self._tables[:] = -1
        self._tables[sensors] = np.arange(sensors.size)

    def _reorganise(self, needed: Int64s) -> None:
        """Make the tables anew, in order of the sensors' numbers, without the tuples that have ended."""
        count = drop_ended(self._chains, self._watermark)
        tables = self._chains.pool["table"][:count]
        heard = self._sensors[tables]
        self._number(np.union1d(self._sensors[np.flatnonzero(np.bincount(tables))], needed))
        tables[:] = self._tables[heard]
        sizes = np.bincount(tables, minlength=max(1, self._sensors.size))
        self._chains = chain_all(lay_out(self._chains.pool, count, sizes))


class VariableArityMJoin(_TablePerSensor):
    """One table per sensor: a tuple probes all of them, for any may have its key.

    What it costs is in proportion to the number of sensors. A new one gets an empty table behind the others.

    Ali, Aref, Kamel: Multi-way Joins for Sensor-Network Databases, 2005, section 3.1.
    """

    def _list_matches(self, batch: Records) -> Lists:
        self._seat(batch)
        self._chains, lists = probe_tables(self._chains, batch, self.limit)
        return lists

    def _admit(self, sensors: Int64s) -> None:
        self._number(np.append(self._sensors, np.setdiff1d(sensors, self._sensors)))
        self._chains = with_tables(self._chains, self._sensors.size)


class VariableArityTree(_TablePerSensor):
    """A left-deep tree, one level per sensor: a tuple's partial result is handed up through all of them.

    What it costs is in proportion to the number of sensors. Levels stand in order of the sensors'
    numbers, so a new one moves those above it: the tree is made anew.

    Ali, Aref, Kamel: Multi-way Joins for Sensor-Network Databases, 2005, section 3.1.
    """

    def _list_matches(self, batch: Records) -> Lists:
        self._seat(batch)
        self._chains, lists = climb_levels(self._chains, batch, self.limit)
        return lists

    def _admit(self, sensors: Int64s) -> None:
        self._reorganise(sensors)
