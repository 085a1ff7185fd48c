"""Tables on their way to the executors: each batch has one version of each, the same if it runs again.

The driver writes a version down beside the checkpoint, and decides before a batch which it will see;
tasks find the choice in a local property, as they do the newest event times.
"""

import json
from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa

from skerry.model.atomic_write import write_atomically
from skerry.model.batch import as_batch
from skerry.sources.tables import Tables
from skerry.spark.progress import batch_of_task, property_of_task

__all__ = ["TABLES", "TableStore", "tables_of_task"]

TABLES = "skerry.tables"
_KEPT = 4

_read: dict[str, pa.RecordBatch] = {}
"""This worker's tables by file: a version never changes."""


class TableStore:
    """The versions that batches have seen, on the driver."""

    def __init__(self, folder: Path, tables: Tables) -> None:
        self._folder, self._tables = folder, tables
        self._chosen_file = folder / "chosen.json"
        self._chosen: dict[int, dict[str, str]] = {}
        folder.mkdir(parents=True, exist_ok=True)
        if self._chosen_file.exists():
            found = json.loads(self._chosen_file.read_text())
            self._chosen = {int(batch): versions for batch, versions in found.items()}

    def choose(self, batch: int) -> None:
        """Settle what a batch will see, unless that is settled already."""
        if batch in self._chosen:
            return
        self._chosen[batch] = {name: self._keep(name, version) for name, version in self._tables.versions().items()}
        self._chosen = {number: files for number, files in self._chosen.items() if number > batch - _KEPT}
        write_atomically(self._chosen_file, json.dumps(self._chosen).encode())
        self._forget()

    def as_property(self) -> str:
        """What tasks need to know: the files by batch and table."""
        return json.dumps(self._chosen)

    def _keep(self, name: str, version: str) -> str:
        path = self._folder / f"{name}-{version}.arrow"
        if not path.exists():
            rows = self._tables.rows(name)
            sink = pa.BufferOutputStream()
            with pa.ipc.new_file(sink, rows.schema) as writer:
                writer.write_batch(rows)
            write_atomically(path, sink.getvalue())
        return str(path.absolute())

    def _forget(self) -> None:
        """Drop files that no batch can ask for again."""
        needed = {path for files in self._chosen.values() for path in files.values()}
        for path in self._folder.glob("*.arrow"):
            if str(path.absolute()) not in needed:
                path.unlink()


def tables_of_task(names: Iterable[str]) -> dict[str, pa.RecordBatch]:
    """The tables as the running task's batch sees them."""
    wanted = list(names)
    found = property_of_task(TABLES) if wanted else None
    if found is None:
        return {}
    files = json.loads(found)[str(batch_of_task())]
    for stale in set(_read) - set(files.values()):
        del _read[stale]
    return {name: _rows(files[name]) for name in wanted}


def _rows(path: str) -> pa.RecordBatch:
    if path not in _read:
        with pa.OSFile(path) as file:
            _read[path] = as_batch(pa.ipc.open_file(file).read_all())
    return _read[path]
