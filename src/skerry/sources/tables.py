"""Tables that streams are joined with: read whole, and again when they change."""

import hashlib
import logging
import os
from collections.abc import Sequence, Set
from pathlib import Path

import pyarrow as pa

from skerry.catalog import Catalog, Source
from skerry.catalog.arrow_tables import is_catalog_table
from skerry.errors import OptionError, SourceError
from skerry.model.batch import join
from skerry.plan.derived_table import DerivedTable, list_base_tables, name_input
from skerry.sources.catalog_tables import CatalogTables
from skerry.sources.derived_tables import compute_table
from skerry.sources.file import FileConnector
from skerry.sources.source import Split

__all__ = ["Tables"]

_log = logging.getLogger(__name__)


class Tables:
    """The tables of a pipeline, as they are now. A version is a text that changes when a table's files, or rows, do."""

    def __init__(self, sources: Sequence[Source], base: Path, catalog: Catalog | None = None) -> None:
        """``catalog`` is needed for tables of the catalogue alone."""
        self._sources: dict[str, Source] = {}
        self._base, self._given_catalog = base, catalog
        self._catalog: CatalogTables | None = None
        self._loaded: dict[str, tuple[str, pa.RecordBatch]] = {}
        self._derived_from: dict[str, tuple[str, ...]] = {}
        self.add(sources)

    def add(self, sources: Sequence[Source]) -> None:
        """Load others too; those that are known already stay as they are."""
        new = [source for source in sources if source.name not in self._sources]
        bases = [base_table for source in new for base_table in list_base_tables(source)]
        if any(map(is_catalog_table, bases)) and self._given_catalog and not self._catalog:
            self._catalog = CatalogTables(self._given_catalog)
        for source in bases:
            if source.connector != "file" and not is_catalog_table(source):
                raise OptionError(f"table {source.name!r} is joined with a stream, so it needs connector 'file'")
        for source in new:
            self._load(source)
            self._sources[source.name] = source

    @property
    def names(self) -> Set[str]:
        """All tables."""
        return self._sources.keys()

    def versions(self) -> dict[str, str]:
        """The version of each table. One that cannot be read as it is stays what it was, until it can."""
        for name, source in self._sources.items():
            try:
                self._load(source)
            except SourceError as error:
                _log.warning("table %r is not read again: %s", name, error)
        return {name: self._loaded[name][0] for name in self._sources}

    def rows(self, name: str) -> pa.RecordBatch:
        """All rows of a table, in the version that ``versions`` gave last."""
        return self._loaded[name][1]

    def _load(self, source: Source) -> None:
        if isinstance(source, DerivedTable):
            self._derive(source)
        elif is_catalog_table(source):
            assert self._catalog is not None, "a run whose tables are the catalogue's is told which catalogue"
            self._loaded[source.name] = self._catalog.read(source)
        else:
            self._load_files(source)

    def _derive(self, table: DerivedTable) -> None:
        """Compute a table if one that it is computed from has changed. Its version follows from its rows."""
        for each in table.inputs:
            self._load(each)
        versions = tuple(self._loaded[each.name][0] for each in table.inputs)
        if self._derived_from.get(table.name) != versions:
            rows = {name_input(number): self._loaded[each.name][1] for number, each in enumerate(table.inputs)}
            self._loaded[table.name] = compute_table(table, rows)
            self._derived_from[table.name] = versions

    def _load_files(self, source: Source) -> None:
        name = source.name
        connector = FileConnector.open(source, self._base)
        version = _version(connector)
        if name in self._loaded and self._loaded[name][0] == version:
            return
        batches = []
        for lane in connector.lanes():
            for decoded in connector.read(Split(name, lane.name, 0, lane.count())):
                if decoded.rejects.num_rows:
                    letter = decoded.rejects.to_pylist()[0]
                    raise SourceError(f"table {name!r}: {letter['place']}: {letter['reason']}")
                batches.append(decoded.readings)
        self._loaded[name] = (version, join(batches, connector.definition.schema))


def _version(connector: FileConnector) -> str:
    stats = [(file.path, os.stat(file.path)) for file in connector.files]
    versions = [(path, stat.st_size, stat.st_mtime_ns, stat.st_ino) for path, stat in stats]
    return hashlib.sha256(repr(versions).encode()).hexdigest()[:16]
