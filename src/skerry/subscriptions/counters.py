"""Counters of the queries in an index: counted where readings are matched, kept in the project's catalogue.

A batch's counts are written to a file of their own before the batch counts as done, and the same batch that runs again
writes the same file. Now and then the files are added to the catalogue, in one transaction with the number of the last
batch that is in it. So each batch is counted once, whatever breaks in between.
"""

import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
import pyarrow as pa

from skerry.catalog import Catalog, Source
from skerry.errors import CatalogError
from skerry.index.query_index import Matches, QueryIndex
from skerry.model.arrays import Int32s, Int64s
from skerry.model.batch import as_batch, empty, pack, unpack
from skerry.model.sealed_folder import SealedFolder

__all__ = ["COUNTS", "Counted", "Counters", "add_counts"]

COUNTS = "#counts"
"""The name under which counts leave a task; no output is called so."""

_COUNTS = pa.schema(
    {
        "kind": pa.string(),
        "id": pa.string(),
        "stream": pa.string(),
        "matches": pa.int64(),
        "last_us": pa.int64(),
        "cost_ns": pa.int64(),
    }
)
_EVERY_SECONDS = 1.0
_PATIENCE_SECONDS = 0.1
_LEAST_REST = 20
"""Writing takes no more than one part of time in so many."""


class Counted:
    """An index that counts. ``counts`` are those of the last match: a row for each query that was true."""

    def __init__(self, index: QueryIndex, kind: str, stream: Source) -> None:
        self._index, self._kind, self._stream = index, kind, stream
        self.counts = empty(_COUNTS)

    def match(self, batch: pa.RecordBatch) -> Matches:
        """Match and count."""
        matches, cost_ns = self._index.match_timed(batch)
        counts = np.bincount(matches.queries, minlength=cost_ns.size)
        numbers = np.flatnonzero(cost_ns).astype(np.int32)
        columns = [
            pa.repeat(self._kind, numbers.size),
            self._index.names(numbers),
            pa.repeat(self._stream.name, numbers.size),
            pa.array(counts[numbers]),
            self._last(batch, matches, counts).take(pa.array(numbers)),
            pa.array(cost_ns[numbers]),
        ]
        self.counts = pa.RecordBatch.from_arrays(columns, schema=_COUNTS)
        return matches

    def names(self, queries: Int32s) -> pa.Array:
        """The names of queries."""
        return self._index.names(queries)

    def _last(self, batch: pa.RecordBatch, matches: Matches, counts: Int64s) -> pa.Array:
        """The newest event time of each query's readings, by number; NULL where there is none."""
        if self._stream.event_time is None:
            return pa.nulls(counts.size, pa.int64())
        moments = batch.column(self._stream.event_time).view(pa.int64()).to_numpy()
        last = np.full(counts.size, np.iinfo(np.int64).min)
        np.maximum.at(last, matches.queries, moments[matches.rows])
        return pa.array(last, mask=counts == 0)


def add_counts(counts: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    """Counts of the same queries added up: a row per query.

    >>> some = [pa.RecordBatch.from_pylist([{"id": "q", "matches": 1, "last_us": last}], _COUNTS) for last in (7, 5)]
    >>> add_counts(some).select(["id", "matches", "last_us"]).to_pylist()
    [{'id': 'q', 'matches': 2, 'last_us': 7}]
    """
    grouped = pa.Table.from_batches(counts, _COUNTS).group_by(_COUNTS.names[:3])
    sums = grouped.aggregate([("matches", "sum"), ("last_us", "max"), ("cost_ns", "sum")])
    return as_batch(sums.rename_columns(_COUNTS.names))


class Counters:
    """A run's counts on their way into a catalogue: in a folder first, which a run that goes on finds again."""

    def __init__(self, folder: Path, catalogue: str | None, run: str, *, synced: bool = False) -> None:
        self._files, self._catalogue, self._run = SealedFolder(folder, run, synced), catalogue, run
        self._next_write = 0.0

    def note(self, batch: int, counts: pa.RecordBatch | None) -> None:
        """Keep what a batch has come to, if it has; before the batch counts as done."""
        if self._catalogue is None:
            return
        if counts is not None:
            self._files.write(f"{batch:012}.counts", pack(counts))
        if time.monotonic() >= self._next_write:
            self.write(batch)

    def write(self, batch: int | None = None) -> None:
        """Let the catalogue have what it does not know yet, of batches up to one; of all, at the end of a run."""
        started = time.monotonic()
        paths = {int(path.stem): path for path in self._files.path.glob("*.counts")}
        known = {number: path for number, path in paths.items() if batch is None or number <= batch}
        if self._catalogue and known and self._add_to_catalogue(self._catalogue, known):
            for path in known.values():
                path.unlink()
        now = time.monotonic()
        self._next_write = now + max(_EVERY_SECONDS, _LEAST_REST * (now - started))

    def _add_to_catalogue(self, catalogue: str, paths: dict[int, Path]) -> bool:
        """Add counts to the catalogue, but for those of batches that are in it; False if it cannot be written now."""
        try:
            catalog = Catalog(catalogue, _PATIENCE_SECONDS)
            with closing(catalog), catalog.all_or_nothing():
                since = catalog.counters.last_batch(self._run)
                new = [unpack(self._files.read(path.name)) for number, path in paths.items() if number > since]
                if new:
                    catalog.counters.add(self._run, max(paths), add_counts(new).to_pylist())
                    # Their last answers were under way when they were removed. By now nobody else can write.
                    catalog.subscriptions.forget_gone()
        except CatalogError:  # somebody else is writing: the files wait for the next time
            return False
        return True
