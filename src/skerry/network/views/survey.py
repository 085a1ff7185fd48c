"""What a view's streams are like in a field: counted on the first readings, before it is decided where rows meet."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from skerry.build.cut import CutView, Feed
from skerry.build.table import build_partial
from skerry.fjord.flow import Flow
from skerry.model.arrays import Float64s, Int64s
from skerry.network.message import HEADER_BYTES
from skerry.network.routing.tree import find_tree
from skerry.network.views.field import Field, split_by_mote
from skerry.network.views.flow import build_row_route
from skerry.network.views.view_mote import count_row_bytes
from skerry.operators.partial_aggregate import SLICE
from skerry.plan.aggregate import Aggregate

__all__ = ["StreamFigures", "Survey", "SurveyFlow"]


@dataclass(frozen=True)
class StreamFigures:
    """How many rows of a stream arise at each mote, and how many bytes they take in all."""

    rows: Int64s
    bytes: int

    @property
    def mean_bytes(self) -> float:
        """Bytes per row."""
        return self.bytes / max(int(self.rows.sum()), 1)

    @property
    def shares(self) -> Float64s:
        """The share of rows that arises at each mote."""
        shares: Float64s = self.rows / max(int(self.rows.sum()), 1)
        return shares


@dataclass(frozen=True)
class Survey:
    """What was counted of a view: its streams, its answers, and what folding on the way would send."""

    streams: tuple[StreamFigures, ...]
    answers: int
    answer_bytes: int
    fold_messages: int = 0
    fold_bytes: int = 0
    span_us: int = 0
    """How much event time the readings cover."""


class SurveyFlow(Flow):
    """A view in this process that counts what its motes would send."""

    def __init__(self, view: CutView, tables: Mapping[str, pa.RecordBatch], field: Field) -> None:
        super().__init__(view, tables)
        self._field, self._tables = field, tables
        self._row_routes = [build_row_route(feed, tables) for feed in view.feeds]
        self._rows = [np.zeros(len(field.topology), np.int64) for _ in view.feeds]
        self._bytes = [0] * len(view.feeds)
        self._answers = self._answer_bytes = 0
        self._first, self._last = np.iinfo(np.int64).max, np.iinfo(np.int64).min
        self._groups: dict[int, dict[int, set[tuple[Any, ...]]]] = {}
        self._folded_rows = self._folded_bytes = 0
        state = view.state
        self._partial = build_partial(state) if isinstance(state, Aggregate) and not view.below else None
        self._keys = state.keys if isinstance(state, Aggregate) else ()

    def put(self, feed: Feed, accepted: pa.RecordBatch) -> None:
        """Count what motes make of their readings, and let the view work."""
        number = self.view.stream_numbers[feed.name]
        self._note_span(feed, accepted)
        for mote, rows in split_by_mote(feed.source, self._field, accepted, self._row_routes[number].transition):
            self._rows[number][mote] += rows.num_rows
            self._bytes[number] += count_row_bytes(rows)
            if self._partial:
                self._note_folded(mote, self._partial.transition(rows))
        super().put(feed, accepted)

    def _note_span(self, feed: Feed, accepted: pa.RecordBatch) -> None:
        if feed.source.event_time and accepted.num_rows:
            moments = accepted.column(feed.source.event_time).cast(pa.int64()).to_numpy(zero_copy_only=False)
            self._first, self._last = min(self._first, int(moments.min())), max(self._last, int(moments.max()))

    def _note_folded(self, mote: int, folded: pa.RecordBatch) -> None:
        """Note the groups that a mote has something of, by slice."""
        self._folded_rows += folded.num_rows
        self._folded_bytes += count_row_bytes(folded)
        groups = zip(*(folded.column(name).to_pylist() for name in (SLICE, *self._keys)), strict=True)
        for start, *keys in groups:
            self._groups.setdefault(start, {}).setdefault(mote, set()).add(tuple(map(repr, keys)))

    def take_answers(self) -> Iterator[tuple[str, pa.RecordBatch]]:
        """What has come out, counted."""
        for output, rows in super().take_answers():
            self._answers += rows.num_rows
            self._answer_bytes += count_row_bytes(rows)
            yield output, rows

    def sum_up(self) -> Survey:
        """What was counted."""
        streams = tuple(StreamFigures(rows, size) for rows, size in zip(self._rows, self._bytes, strict=True))
        messages, size = self._sum_folded()
        span_us = max(int(self._last) - int(self._first), 0) if self._last >= self._first else 0
        return Survey(streams, self._answers, self._answer_bytes, messages, size, span_us)

    def _sum_folded(self) -> tuple[int, int]:
        """Messages and bytes of slices that are merged on their way: a mote sends the groups of all motes below it."""
        tree = find_tree(self._field.topology, self._field.base)
        upwards = np.argsort(-self._field.depths, kind="stable").tolist()
        sent = rows = 0
        for groups in self._groups.values():
            below = {mote: set(found) for mote, found in groups.items()}
            for mote in upwards:
                parent = tree.parents[mote]
                if parent is not None and mote in below:
                    below.setdefault(parent, set()).update(below[mote])
                    sent, rows = sent + 1, rows + len(below[mote])
        return sent, round(sent * HEADER_BYTES + rows * self._folded_bytes / max(self._folded_rows, 1))
