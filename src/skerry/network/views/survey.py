"""What a view's streams are like in a deployment: counted on the first readings, before rows are placed."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from skerry.build.cut import CutView, Feed
from skerry.build.table import build_partial
from skerry.fjord.flow import Flow
from skerry.model.arrays import Float64s, Int64s
from skerry.model.time import Micros
from skerry.network.views.deployment import Deployment
from skerry.network.views.flow import build_row_route, find_homes
from skerry.network.views.fold_cost import Folded
from skerry.network.views.locate import split_by_mote
from skerry.network.views.meetings import Meetings, MeetingSurvey, make_meeting_survey
from skerry.network.views.view_mote import count_row_bytes
from skerry.operators.partial_aggregate import SLICE
from skerry.plan.aggregate import Aggregate

__all__ = ["StreamFigures", "Survey", "SurveyFlow"]


@dataclass(frozen=True)
class StreamFigures:
    """How many rows of a stream arise at each mote, how many bytes they take, and where their keys are hashed to."""

    rows: Int64s
    bytes: Int64s
    homes: Mapping[tuple[int, int], int]
    """By mote and home, how many rows."""

    @property
    def mean_bytes(self) -> Float64s:
        """Bytes per row, by mote."""
        mean: Float64s = self.bytes / np.maximum(self.rows, 1)
        return mean


@dataclass(frozen=True)
class Survey:
    """What was counted of a view: its streams, its answers and whose rows they are made of, and folded rows."""

    streams: tuple[StreamFigures, ...]
    answers: int
    answer_bytes: int
    meetings: Meetings
    folded: Folded
    span_us: int = 0
    """How much event time the readings cover."""


class SurveyFlow(Flow):
    """A view in this process that counts what its motes would send."""

    def __init__(self, view: CutView, tables: Mapping[str, pa.RecordBatch], deployment: Deployment) -> None:
        super().__init__(view, tables)
        self._deployment = deployment
        self._row_routes = [build_row_route(feed, tables) for feed in view.feeds]
        size = len(deployment.topology)
        self._rows = [np.zeros(size, np.int64) for _ in view.feeds]
        self._bytes = [np.zeros(size, np.int64) for _ in view.feeds]
        self._homes: list[Counter[tuple[int, int]]] = [Counter() for _ in view.feeds]
        self._answers = self._answer_bytes = 0
        self._first, self._last = np.iinfo(np.int64).max, np.iinfo(np.int64).min
        self._folded = Folded()
        state = view.state
        self._partial = build_partial(state) if isinstance(state, Aggregate) and not view.below else None
        self._keys = state.keys if isinstance(state, Aggregate) else ()
        self._meetings: MeetingSurvey | None = make_meeting_survey(view, tables)

    def put(self, feed: Feed, accepted: pa.RecordBatch) -> None:
        """Count what motes make of their readings, and let the view work."""
        number = self.view.stream_numbers[feed.name]
        self._note_span(feed, accepted)
        for mote, rows in split_by_mote(feed.source, self._deployment, accepted, self._row_routes[number].transition):
            self._rows[number][mote] += rows.num_rows
            self._bytes[number][mote] += count_row_bytes(rows)
            homes = find_homes(feed, rows, self._deployment)
            self._homes[number].update((mote, home) for home in homes.tolist())
            if self._partial:
                self._note_folded(mote, self._partial.transition(rows))
            if self._meetings:
                self._meetings.take(number, mote, homes, rows)
        super().put(feed, accepted)

    def advance(self, newest: Mapping[str, Micros], heard: Mapping[str, Micros]) -> None:
        """Let the view know how far all streams have come, and see what has met."""
        if self._meetings:
            self._meetings.advance(newest, heard)
        super().advance(newest, heard)

    def _note_span(self, feed: Feed, accepted: pa.RecordBatch) -> None:
        if feed.source.event_time and accepted.num_rows:
            moments = accepted.column(feed.source.event_time).cast(pa.int64()).to_numpy(zero_copy_only=False)
            self._first, self._last = min(self._first, int(moments.min())), max(self._last, int(moments.max()))

    def _note_folded(self, mote: int, folded: pa.RecordBatch) -> None:
        """Note the groups that a mote has something of, by slice."""
        self._folded.rows += folded.num_rows
        self._folded.bytes += count_row_bytes(folded)
        groups = zip(*(folded.column(name).to_pylist() for name in (SLICE, *self._keys)), strict=True)
        for start, *keys in groups:
            self._folded.groups.setdefault(start, {}).setdefault(mote, set()).add(repr(keys))

    def take_answers(self) -> Iterator[tuple[str, pa.RecordBatch]]:
        """What has come out, counted."""
        for output, rows in super().take_answers():
            self._answers += rows.num_rows
            self._answer_bytes += count_row_bytes(rows)
            yield output, rows

    def sum_up(self) -> Survey:
        """What was counted."""
        streams = tuple(map(StreamFigures, self._rows, self._bytes, self._homes))
        span_us = max(int(self._last) - int(self._first), 0) if self._last >= self._first else 0
        meetings = self._meetings.sum_up() if self._meetings else Meetings.none(len(streams))
        return Survey(streams, self._answers, self._answer_bytes, meetings, self._folded, span_us)
