"""Rows that are kept by key: the last of each partition, in pages by the hash of the key."""

from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa

from skerry.model.arrays import Int64s
from skerry.model.batch import empty, join, pack, unpack
from skerry.operators.grouping import buckets
from skerry.operators.operator import PageChanges, StatePages
from skerry.operators.spread import Spread

__all__ = ["KeptRows"]

_PAGES = 64
"""Over so many pages rows are spread by their keys: those that did not change are not written again."""


class KeptRows:
    """Rows by key. Rows of a page are taken out together, and put back as what is left of them.

    Rows of one key stay in the order in which they were put. Costs nothing for pages that are not asked for.

    >>> kept = KeptRows(pa.schema({"sensor": pa.string(), "speed": pa.float64()}), ["sensor"])
    >>> row = pa.record_batch({"sensor": ["a"], "speed": [20.0]})
    >>> kept.put(row, kept.pages_of(row))
    >>> kept.take(kept.pages_of(row)).num_rows, kept.take(kept.pages_of(row)).num_rows
    (1, 0)
    """

    def __init__(self, schema: pa.Schema, keys: Sequence[str]) -> None:
        self.schema, self._keys = schema, tuple(keys)
        self._pages: dict[int, pa.RecordBatch] = {}
        self._changed: set[int] = set()
        self._saved: set[int] = set()

    def pages_of(self, rows: pa.RecordBatch) -> Int64s:
        """The page of each row."""
        if not self._keys:
            return np.zeros(rows.num_rows, np.int64)
        return buckets([rows.column(key) for key in self._keys], rows.num_rows, _PAGES)

    @property
    def pages(self) -> dict[int, pa.RecordBatch]:
        """What is kept, by page."""
        return self._pages

    def take(self, pages: Int64s) -> pa.RecordBatch:
        """Take all rows of some pages out."""
        wanted = np.unique(pages).tolist()
        self._changed.update(page for page in wanted if page in self._pages)
        return join([self._pages.pop(page) for page in wanted if page in self._pages], self.schema)

    def put(self, rows: pa.RecordBatch, pages: Int64s) -> None:
        """Put rows into pages that were taken out."""
        if not rows.num_rows:
            return
        order = np.argsort(pages.astype(np.uint8), kind="stable")
        rows, pages = rows.take(pa.array(order)), pages[order]
        starts = np.flatnonzero(np.diff(pages, prepend=-1))
        for start, stop in zip(starts, [*starts[1:], pages.size], strict=True):
            page = int(pages[start])
            assert page not in self._pages, "a page is taken out before rows are put into it"
            self._pages[page] = rows.slice(start, stop - start)
            self._changed.add(page)

    def clear(self) -> None:
        """Let go of all rows."""
        self._changed.update(self._pages)
        self._pages = {}

    def changes(self) -> PageChanges:
        """The pages that were taken out or put."""
        put = {str(page): pack(self._pages[page]) for page in sorted(self._changed) if page in self._pages}
        gone = sorted((self._saved & self._changed) - self._pages.keys())
        self._saved, self._changed = set(self._pages), set()
        return PageChanges(put, [str(page) for page in gone])

    def snapshot(self) -> dict[str, bytes]:
        """All pages."""
        return {str(page): pack(rows) for page, rows in sorted(self._pages.items())}

    def restore(self, pages: StatePages) -> None:
        """Take pages over."""
        self._pages = {int(name): unpack(blob) for name, blob in pages.items()}
        self._saved = set(self._pages)

    def redistribute(self, states: Iterable[StatePages], spread: Spread) -> list[dict[str, bytes]]:
        """The rows of all buckets, in the pages of other buckets."""
        rows = join([unpack(state[name]) for state in states for name in sorted(state, key=int)], self.schema)
        found = []
        for part in spread.split(rows) if rows.num_rows else [empty(self.schema)] * spread.count:
            fresh = KeptRows(self.schema, self._keys)
            fresh.put(part, fresh.pages_of(part))
            found.append(fresh.snapshot())
        return found
