"""The stateless parts of a view, beside its sources, as one operator with an input for each feed."""

from collections.abc import Mapping, Sequence

import pyarrow as pa

from skerry.build.cut import Feed
from skerry.model.batch import empty
from skerry.model.time import Micros

__all__ = ["Routes"]


class Routes:
    """Stream ``n`` is what feed ``n`` reads, and what comes of it is stream ``n`` still."""

    def __init__(self, feeds: Sequence[Feed], tables: Mapping[str, pa.RecordBatch]) -> None:
        self._feeds = tuple(feeds)
        self._operators = [feed.build_route(tables) for feed in self._feeds]

    def transition(self, batch: pa.RecordBatch, stream: int = 0) -> pa.RecordBatch:
        """Select, project, look up, fold."""
        return self._operators[stream].transition(batch)

    def advance(self, watermark: Micros) -> pa.RecordBatch:
        """Nothing is kept, so nothing is settled."""
        return empty(self._operators[0].schema)

    def see(self, tables: Mapping[str, pa.RecordBatch]) -> None:
        """Look things up in other versions of the tables."""
        for number, feed in enumerate(self._feeds):
            if feed.tables:
                self._operators[number] = feed.build_route(tables)
