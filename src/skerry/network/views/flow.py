"""A view in a field: the motes that work for it, and the base station's share."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa

from skerry.build.cut import CutView, Feed
from skerry.build.table import build_partial
from skerry.errors import OptionError
from skerry.fjord.saved_state import ViewClock
from skerry.fjord.scheduler import Module
from skerry.model.arrays import Int64s
from skerry.model.batch import join, unpack
from skerry.model.time import Micros
from skerry.network.message import Kind
from skerry.network.network import Network
from skerry.network.routing.tree import find_tree
from skerry.network.views.field import Field, split_by_mote
from skerry.network.views.fold_mote import FoldMote
from skerry.network.views.placement import Placement, Way
from skerry.network.views.view_mote import Directions, ViewMote, pack_row
from skerry.operators.aggregate import WindowAggregate
from skerry.operators.grouping import buckets
from skerry.operators.operator import Operator, PageChanges, StatePages
from skerry.operators.partial_aggregate import SLICE
from skerry.pipeline.view_at_work import ViewAtWork
from skerry.plan.aggregate import Aggregate

__all__ = ["FieldFlow", "FoldedFlow", "build_row_route", "make_field_flow"]

_ANSWER = -1
"""In place of a stream's number: rows that are answers."""


def make_field_flow(
    view: CutView, tables: Mapping[str, pa.RecordBatch], field: Field, placement: Placement
) -> "FieldFlow":
    """A view at work in a field."""
    return (FoldedFlow if placement.folds else FieldFlow)(view, tables, field, placement)


def build_row_route(feed: Feed, tables: Mapping[str, pa.RecordBatch]) -> Operator:
    """What a mote does with a reading before anything is sent: selection and projection, no folding."""
    return Feed(feed.name, feed.source, feed.below).build_route(tables)


class FieldFlow:
    """A view whose rows meet at motes, as its placement says. Every mote where rows meet has an operator of its own.

    Simulated time follows event time. Whatever is on its way arrives before the watermark moves, as if the base station
    waited long enough; what was lost on the way is not there, and answers show it.
    """

    def __init__(self, view: CutView, tables: Mapping[str, pa.RecordBatch], field: Field, placement: Placement) -> None:
        self.view, self.field, self.placement = view, field, placement
        self.network = Network(field.topology, field.radio, field.seed)
        self.work = ViewAtWork(view) if view.stateful else None
        self.modules: list[Module] = []
        self.sites: dict[int, ViewAtWork] = {field.base: self.work} if self.work else {}
        self._arrived: defaultdict[int, list[tuple[int, bytes]]] = defaultdict(list)
        self._answers: list[pa.RecordBatch] = []
        self._counted: dict[str, int] = {}
        self._motes = self.network.install(lambda board: ViewMote(board, self._direct(board.mote), self._note_arrival))
        self._tables = tables
        self._routes = self._build_routes()

    def _build_routes(self) -> list[Operator]:
        return [build_row_route(feed, self._tables) for feed in self.view.feeds]

    def _direct(self, mote: int) -> Directions:
        def next_hop(target: int) -> int:
            found = self.field.routes.next_hop(mote, target)
            assert found is not None, "a field is connected"
            return found

        lines = self.field.lines
        along = {} if lines is None else {Way.ROW: _neighbours(lines[0], mote), Way.COLUMN: _neighbours(lines[1], mote)}
        return Directions(next_hop, self.field.base, along)

    def see(self, tables: Mapping[str, pa.RecordBatch]) -> None:
        """Go on with other versions of the tables."""
        self._tables = tables
        self._routes = self._build_routes()

    def put(self, feed: Feed, accepted: pa.RecordBatch) -> None:
        """Have motes take their readings, at the readings' times."""
        number = self.view.stream_numbers[feed.name]
        for mote, rows in split_by_mote(feed.source, self.field, accepted, self._routes[number].transition):
            self._take(number, mote, rows)

    def _take(self, number: int, mote: int, rows: pa.RecordBatch) -> None:
        way, targets = self.placement.ways[number], self._find_targets(number, rows)
        moments = self._find_moments(number, rows)
        kind = Kind.RESULT if self.work is None else Kind.STORAGE
        stream = number if self.work else _ANSWER
        for row in range(rows.num_rows):
            packed, size = pack_row(rows, row)
            self.network.simulation.at(
                int(moments[row]), self._motes[mote].start, way, int(targets[row]), stream, packed, size, kind
            )

    def _find_targets(self, number: int, rows: pa.RecordBatch) -> Int64s:
        """The mote that each row goes to, where its way leads to one."""
        if self.placement.ways[number] is not Way.HASH:
            return np.full(rows.num_rows, self.field.base)
        keys = [rows.column(key) for key in self.view.feeds[number].keys]
        return buckets(keys, rows.num_rows, len(self.field.topology))

    def _find_moments(self, number: int, rows: pa.RecordBatch) -> Int64s:
        """When each row is sent: at its time, and never before what has happened."""
        time = self.view.state.time_of(number) if self.view.state else None
        now = self.network.simulation.now
        if time is None or time not in rows.schema.names:
            return np.full(rows.num_rows, now)
        return np.maximum(rows.column(time).cast(pa.int64()).fill_null(0).to_numpy(), now)

    def _note_arrival(self, mote: int, stream: int, rows: bytes) -> None:
        if stream == _ANSWER:
            self._answers.append(unpack(rows))
        else:
            self._arrived[mote].append((stream, rows))

    def advance(self, newest: Mapping[str, Micros], heard: Mapping[str, Micros]) -> None:
        """Let everything arrive, then let the motes where rows meet know how far all streams have come."""
        self.network.simulation.run()
        for mote in sorted(self._arrived.keys() - self.sites.keys()):
            self.sites[mote] = ViewAtWork(self.view)
        for mote, site in sorted(self.sites.items()):
            self._work(mote, site, newest, heard)
        self._arrived.clear()
        self.network.simulation.run()

    def _work(self, mote: int, site: ViewAtWork, newest: Mapping[str, Micros], heard: Mapping[str, Micros]) -> None:
        for stream, rows in _join_runs(self._arrived.get(mote, [])):
            self._answer(mote, site.transition(self._fold(stream, rows), stream))
        for source, moment in heard.items():
            site.note_heard(source, moment)
        for source, moment in newest.items():
            site.note_newest(source, moment)
        self._answer(mote, site.advance(site.watermark))

    def _fold(self, stream: int, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Rows as the operator takes them: what a mote would fold beforehand is folded where rows meet."""
        partial = self.view.feeds[stream].partial
        return build_partial(partial).transition(rows) if partial else rows

    def _answer(self, mote: int, rows: pa.RecordBatch) -> None:
        """Send answers to the base station, each in a message of its own."""
        if mote == self.field.base:
            self._answers += [rows] if rows.num_rows else []
            return
        for row in range(rows.num_rows):
            packed, size = pack_row(rows, row)
            self._motes[mote].start(Way.UP, self.field.base, _ANSWER, packed, size, Kind.RESULT)

    def take_answers(self) -> Iterator[tuple[str, pa.RecordBatch]]:
        """What has come to the base station, and what was lost to overload, by output."""
        if self._answers:
            yield from self.view.by_output(join(self._answers, self._answers[0].schema))
            self._answers = []
        if self.work and (lost := self.work.take_losses()):
            yield lost

    def take_figures(self) -> dict[str, int]:
        """Transmissions, bytes and energy since they were asked for last."""
        tally = self.network.radio.tally
        now = {"messages": tally.total, "bytes": sum(tally.bytes_by_mote)}
        grown = {name: count - self._counted.get(name, 0) for name, count in now.items()}
        self._counted = now
        return grown

    @property
    def failures(self) -> dict[str, str]:
        """By output, why some part of it had to stop."""
        return {name: reason for site in self.sites.values() for name, reason in site.failures.items()}

    def restore(self, clock: ViewClock, pages: StatePages) -> None:
        """A simulated network starts from its beginning."""
        raise OptionError("a run in a network keeps no checkpoint; leave --checkpoint out")

    def save_clock(self) -> ViewClock | None:
        """Nothing is saved."""
        return None

    def take_changes(self) -> PageChanges:
        """Nothing is saved."""
        return PageChanges()


class FoldedFlow(FieldFlow):
    """An aggregate that is folded on its way up a tree, slice by slice; windows close at the base station."""

    def __init__(self, view: CutView, tables: Mapping[str, pa.RecordBatch], field: Field, placement: Placement) -> None:
        super().__init__(view, tables, field, placement)
        assert isinstance(view.state, Aggregate)
        state = view.state
        self._partial, self._slice_us = build_partial(state), state.window.slice_us
        merging = WindowAggregate(state.window, state.key_fields, state.folds)
        tree = find_tree(field.topology, field.base)
        schema = self._partial.schema
        self._folding = self.network.install(
            lambda board: FoldMote(board, tree.parents[board.mote], schema, merging.merge, self._deliver)
        )
        self._open: set[int] = set()
        self._by_depth = np.argsort(-field.depths, kind="stable").tolist()

    def _take(self, number: int, mote: int, rows: pa.RecordBatch) -> None:
        folded = self._partial.transition(rows)
        starts = folded.column(SLICE).to_numpy()
        for start in np.unique(starts):
            self._folding[mote].keep(int(start), folded.take(pa.array(np.flatnonzero(starts == start))))
            self._open.add(int(start))

    def _deliver(self, rows: pa.RecordBatch) -> None:
        assert self.work is not None
        self._answer(self.field.base, self.work.transition(rows))

    def advance(self, newest: Mapping[str, Micros], heard: Mapping[str, Micros]) -> None:
        """Have the slices that are over sent up, then close windows."""
        assert self.work is not None
        for source, moment in newest.items():
            self.work.note_newest(source, moment)
        over = sorted(start for start in self._open if start + self._slice_us <= self.work.watermark)
        for start in over:
            self._send_up(start)
        self._open -= set(over)
        self.network.simulation.run()
        super().advance(newest, heard)

    def _send_up(self, start: int) -> None:
        """The deepest motes first, a slot after each other: longer than any hop takes."""
        deepest, slot_us = int(self.field.depths.max()), self.field.radio.most_delay_us + 1
        simulation = self.network.simulation
        ended = max(start + self._slice_us, simulation.now)
        for mote in self._by_depth:
            simulation.at(ended + (deepest - int(self.field.depths[mote])) * slot_us, self._folding[mote].send, start)


def _neighbours(lines: Sequence[Sequence[int]], mote: int) -> tuple[int, ...]:
    """The motes before and behind one on its line."""
    line = next(line for line in lines if mote in line)
    position = line.index(mote)
    return tuple(line[other] for other in (position - 1, position + 1) if 0 <= other < len(line))


def _join_runs(arrived: Sequence[tuple[int, bytes]]) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Rows that came behind each other on one stream, as one batch."""
    run: list[pa.RecordBatch] = []
    for number, (stream, rows) in enumerate(arrived):
        run.append(unpack(rows))
        if number + 1 == len(arrived) or arrived[number + 1][0] != stream:
            yield stream, join(run, run[0].schema)
            run = []
