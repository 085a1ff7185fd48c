"""Tables on their way to the executors: each batch has one version of each, the same if it runs again.

The driver writes a version down beside the checkpoint, and decides before a batch which it will see;
tasks find the choice in a local property, as they do the newest event times.
"""

import json
from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa

from skerry.model.sealed_folder import SealedFolder
from skerry.pipeline.kept_tables import KeptTables, read_table
from skerry.sources.tables import Tables
from skerry.spark.progress import batch_of_task, property_of_task

__all__ = ["TABLES", "TableStore", "tables_of_task"]

TABLES = "skerry.tables"
_KEPT = 4

_CHOICES = "chosen.json"

_read: dict[tuple[SealedFolder, str], pa.RecordBatch] = {}
"""This worker's tables by folder and file: a version never changes."""


class TableStore:
    """The versions that batches have seen, on the driver. A run that goes on has chosen before, and needs to know."""

    def __init__(self, files: SealedFolder, tables: Tables, *, resumed: bool = False) -> None:
        self._files, self._tables = files, tables
        self._chosen: dict[int, dict[str, str]] = {}
        if resumed:
            found = json.loads(files.read(_CHOICES))
            self._chosen = {int(batch): versions for batch, versions in found.items()}
        self._kept = KeptTables(files, tables, self._list_chosen())

    def choose(self, batch: int) -> None:
        """Settle what a batch will see, unless that is settled already: of all tables, or of those that came since."""
        known = self._chosen.get(batch)
        if known is not None and known.keys() >= self._tables.names:
            return
        self._chosen[batch] = {**self._kept.choose(), **(known or {})}
        self._chosen = {number: files for number, files in self._chosen.items() if number > batch - _KEPT}
        self._files.write(_CHOICES, json.dumps(self._chosen).encode())
        self._kept.keep_only(self._list_chosen())

    def as_property(self) -> str:
        """What tasks need to know: the files by batch and table, and where they are."""
        return json.dumps({"folder": str(self._files.path.absolute()), "run": self._files.run, "chosen": self._chosen})

    def _list_chosen(self) -> set[str]:
        return {name for files in self._chosen.values() for name in files.values()}


def tables_of_task(names: Iterable[str]) -> dict[str, pa.RecordBatch]:
    """The tables as the running task's batch sees them."""
    wanted = list(names)
    found = property_of_task(TABLES) if wanted else None
    if found is None:
        return {}
    known = json.loads(found)
    files, chosen = SealedFolder(Path(known["folder"]), known["run"]), known["chosen"][str(batch_of_task())]
    for stale in set(_read) - {(files, name) for name in chosen.values()}:
        del _read[stale]
    return {table: _rows(files, chosen[table]) for table in wanted}


def _rows(files: SealedFolder, name: str) -> pa.RecordBatch:
    if (files, name) not in _read:
        _read[files, name] = read_table(files, name)
    return _read[files, name]
