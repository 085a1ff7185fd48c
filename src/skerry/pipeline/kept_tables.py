"""Versions of tables in a checkpoint: a step that runs again sees the tables as it saw them the first time."""

from collections.abc import Collection

import pyarrow as pa

from skerry.model.batch import as_batch
from skerry.model.sealed_folder import SealedFolder
from skerry.sources.tables import Tables

__all__ = ["KeptTables", "read_table"]

_SUFFIX = ".arrow"


class KeptTables:
    """The versions that steps have seen, one file each. ``kept`` are those that a run which goes on may ask for."""

    def __init__(self, files: SealedFolder, tables: Tables, kept: Collection[str] = ()) -> None:
        self._files, self._tables, self._kept = files, tables, set(kept)
        for name in self._kept:
            files.read(name)

    def choose(self) -> dict[str, str]:
        """Write the tables down as they are now, unless that is done; give their files by table."""
        return {table: self._keep(table, version) for table, version in self._tables.versions().items()}

    def read(self, name: str) -> pa.RecordBatch:
        """What is in a file."""
        return read_table(self._files, name)

    def keep_only(self, names: Collection[str]) -> None:
        """Drop the files that no step can ask for again: all but some."""
        if self._kept == set(names):
            return
        self._kept = set(names)
        for path in self._files.path.glob(f"*{_SUFFIX}"):
            if path.name not in self._kept:
                path.unlink()

    def _keep(self, table: str, version: str) -> str:
        name = f"{table}-{version}{_SUFFIX}"
        if name not in self._kept:
            rows = self._tables.rows(table)
            sink = pa.BufferOutputStream()
            with pa.ipc.new_file(sink, rows.schema) as writer:
                writer.write_batch(rows)
            self._files.write(name, sink.getvalue())
            self._kept.add(name)
        return name


def read_table(files: SealedFolder, name: str) -> pa.RecordBatch:
    """A version of a table, from its file."""
    return as_batch(pa.ipc.open_file(files.read(name)).read_all())
