"""Tables of the catalogue that streams are joined with, as they are now."""

import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass

import pyarrow as pa

from skerry.catalog import Catalog, Source

__all__ = ["CatalogTables"]

_LONG_SECONDS, _SHARE = 0.25, 0.05
"""What takes longer than this to read may take this share of the time."""


class CatalogTables:
    """Reads tables of a catalogue again when it has changed.

    A version is a digest of the rows in the columns that are asked for: a table that stays the same while others
    change keeps its version. A table that takes long to read is not read again at once: reading takes a share of the
    time at most.

    >>> from skerry.catalog.arrow_tables import find_catalog_table
    >>> catalog = Catalog.in_memory()
    >>> tables, views = CatalogTables(catalog), find_catalog_table("views")
    >>> version, rows = tables.read(views)
    >>> rows.num_rows, tables.read(views)[0] == version
    (0, True)
    """

    def __init__(
        self,
        catalog: Catalog,
        clock: Callable[[], float] = time.monotonic,
        processor_clock: Callable[[], float] = time.thread_time,
    ) -> None:
        """What reading takes is processor time: that the machine is busy with others does not count."""
        self._catalog, self._clock, self._processor_clock = catalog.reopen(), clock, processor_clock
        self._whole: dict[str, _Read] = {}
        self._chosen: dict[str, tuple[_Read, str, pa.RecordBatch]] = {}

    def read(self, table: Source) -> tuple[str, pa.RecordBatch]:
        """The version of a table, and its rows."""
        whole = self._read_whole(table.options["table"])
        known = self._chosen.get(table.name)
        if known is None or known[0] is not whole:
            rows = whole.rows.select(table.schema.names)
            known = self._chosen[table.name] = (whole, _digest(rows), rows)
        return known[1], known[2]

    def _read_whole(self, name: str) -> "_Read":
        known, now = self._whole.get(name), self._clock()
        if known is not None and now < known.next_s:
            return known
        state = self._catalog.state
        if known is None or known.state != state:
            begun = self._processor_clock()
            rows = self._catalog.read_table(name)
            took_s = self._processor_clock() - begun
            wait_s = took_s / _SHARE if took_s > _LONG_SECONDS else 0.0
            known = self._whole[name] = _Read(state, rows, self._clock() + wait_s)
        return known


@dataclass(frozen=True)
class _Read:
    """A table as it was read, in which state of the catalogue, and when to look again at the earliest."""

    state: tuple[int, int]
    rows: pa.RecordBatch
    next_s: float


def _digest(rows: pa.RecordBatch) -> str:
    return hashlib.sha256(rows.serialize()).hexdigest()[:16]
