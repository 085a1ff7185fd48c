"""Tables of the catalogue that streams are joined with, as they are now."""

import hashlib

import pyarrow as pa

from skerry.catalog import Catalog

__all__ = ["CatalogTables"]


class CatalogTables:
    """Reads tables of a catalogue again when it has changed.

    A version is a digest of the rows: a table that stays the same while others change keeps its version.

    >>> catalog = Catalog.in_memory()
    >>> tables = CatalogTables(catalog)
    >>> version, rows = tables.read("views")
    >>> rows.num_rows, tables.read("views")[0] == version
    (0, True)
    """

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog.reopen()
        self._read: dict[str, tuple[tuple[int, int], str, pa.RecordBatch]] = {}

    def read(self, name: str) -> tuple[str, pa.RecordBatch]:
        """The version of a table, and its rows."""
        state = self._catalog.state
        known = self._read.get(name)
        if known is None or known[0] != state:
            rows = self._catalog.read_table(name)
            known = self._read[name] = (state, _digest(rows), rows)
        return known[1], known[2]


def _digest(rows: pa.RecordBatch) -> str:
    return hashlib.sha256(rows.serialize()).hexdigest()[:16]
