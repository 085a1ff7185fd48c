"""A view in a deployment: the motes that work for it, and the base station's share."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import numpy as np
import pyarrow as pa

from skerry.build.cut import CutView, Feed
from skerry.build.table import build_partial
from skerry.errors import OptionError
from skerry.fjord.saved_state import ViewClock
from skerry.model.arrays import Int64s
from skerry.model.batch import join, unpack
from skerry.model.time import Micros
from skerry.network.message import Kind
from skerry.network.network import Network
from skerry.network.views.accuracy import Accuracy
from skerry.network.views.deployment import Deployment
from skerry.network.views.locate import split_by_mote
from skerry.network.views.placement import Placement
from skerry.network.views.routing import Routing
from skerry.network.views.view_mote import Directions, Share, ViewMote, pack_row
from skerry.network.views.way import Way
from skerry.operators.grouping import buckets
from skerry.operators.operator import Operator, PageChanges, StatePages
from skerry.pipeline.view_at_work import ViewAtWork

__all__ = ["NetworkFlow", "build_row_route", "find_homes"]

_ANSWER = -1
"""In place of a stream's number: rows that are answers."""


def build_row_route(feed: Feed, tables: Mapping[str, pa.RecordBatch]) -> Operator:
    """What a mote does with a reading before anything is sent: selection and projection, no folding."""
    return Feed(feed.name, feed.source, feed.below).build_route(tables)


def find_homes(feed: Feed, rows: pa.RecordBatch, deployment: Deployment) -> Int64s:
    """The mote that each row's keys are hashed to."""
    return buckets([rows.column(key) for key in feed.keys], rows.num_rows, len(deployment.topology))


class NetworkFlow:
    """A view whose rows meet at motes, as its placement says. Every mote where rows meet has an operator of its own.

    Simulated time follows event time. Whatever is on its way arrives before the watermark moves, as if the base station
    waited long enough; what was lost on the way is not there, and answers show it.
    """

    def __init__(
        self, view: CutView, tables: Mapping[str, pa.RecordBatch], deployment: Deployment, placement: Placement
    ) -> None:
        self.view, self.deployment, self.placement = view, deployment, placement
        self.network = Network(deployment.topology, deployment.radio, deployment.seed)
        self.routing = Routing(deployment, self.network)
        self.work = ViewAtWork(view, tables) if view.stateful else None
        self._accuracy = None if deployment.odds.is_lossless else Accuracy(view, tables)
        self.sites: dict[int, ViewAtWork] = {deployment.base: self.work} if self.work else {}
        self._arrived: defaultdict[int, list[tuple[int, bytes]]] = defaultdict(list)
        self._answers: list[pa.RecordBatch] = []
        self._counted: dict[str, int] = {}
        self._motes = self.network.install(lambda board: ViewMote(board, self._direct(board.mote), self._note_arrival))
        self._tables = tables
        self._routes = self._build_routes()

    @property
    def is_full(self) -> bool:
        """Whether the comparison with what nothing was lost of must be worked on first; motes take all."""
        return self._accuracy is not None and self._accuracy.flow.is_full

    @property
    def is_idle(self) -> bool:
        """Whether the comparison has come as far as the motes, who work at once."""
        return self._accuracy is None or self._accuracy.flow.is_idle

    def turn(self) -> bool:
        """Work on one message of the comparison, if there is one."""
        return self._accuracy is not None and self._accuracy.flow.turn()

    def _build_routes(self) -> list[Operator]:
        return [build_row_route(feed, self._tables) for feed in self.view.feeds]

    def _direct(self, mote: int) -> Directions:
        def find_share(way: Way, origin: int) -> Share:
            tree = self.routing.find_tree(way, origin)
            return Share(tree.parents.get(mote), tree.children.get(mote, ()), mote in tree.keeps)

        return Directions(partial(self.routing.next_hop, mote), find_share, self.deployment.radio.retries > 0)

    def see(self, tables: Mapping[str, pa.RecordBatch]) -> None:
        """Go on with other versions of the tables."""
        self._tables = tables
        self._routes = self._build_routes()
        for site in self.sites.values():
            site.see(tables)
        if self._accuracy:
            self._accuracy.flow.see(tables)

    def put(self, feed: Feed, accepted: pa.RecordBatch) -> None:
        """Have motes take their readings, at the readings' times."""
        if self._accuracy:
            self._accuracy.put(feed, accepted)
        number = self.view.stream_numbers[feed.name]
        for mote, rows in split_by_mote(feed.source, self.deployment, accepted, self._routes[number].transition):
            self._take(number, mote, rows)

    def _take(self, number: int, mote: int, rows: pa.RecordBatch) -> None:
        way, targets = self.placement.ways[number], self._find_targets(number, mote, rows)
        moments = self._find_moments(number, rows)
        kind = Kind.RESULT if self.work is None else Kind.STORAGE
        stream = number if self.work else _ANSWER
        for row in range(rows.num_rows):
            packed, size = pack_row(rows, row)
            self.network.simulation.at(
                int(moments[row]), self._motes[mote].start, way, int(targets[row]), stream, packed, size, kind
            )

    def _find_targets(self, number: int, mote: int, rows: pa.RecordBatch) -> Int64s:
        """The mote that each row goes to, where its way leads to one."""
        way = self.placement.ways[number]
        if way is Way.HASH:
            return find_homes(self.view.feeds[number], rows, self.deployment)
        target = self.deployment.deliveries.find_head(mote) if way is Way.HEAD else self.deployment.base
        return np.full(rows.num_rows, target)

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

    def replace_view(self, view: CutView, tables: Mapping[str, pa.RecordBatch]) -> None:
        """Nothing: views of motes neither come nor go while they run."""

    def advance(self, newest: Mapping[str, Micros], heard: Mapping[str, Micros]) -> None:
        """Let everything arrive, then let the motes where rows meet know how far all streams have come."""
        if self._accuracy:
            self._accuracy.advance(newest, heard)
        self.network.simulation.run()
        for mote in sorted(self._arrived.keys() - self.sites.keys()):
            self.sites[mote] = ViewAtWork(self.view, self._tables)
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
        if mote == self.deployment.base:
            self._answers += [rows] if rows.num_rows else []
            return
        for row in range(rows.num_rows):
            packed, size = pack_row(rows, row)
            self._motes[mote].start(Way.UP, self.deployment.base, _ANSWER, packed, size, Kind.RESULT)

    def take_answers(self) -> Iterator[tuple[str, pa.RecordBatch]]:
        """What has come to the base station, and what was lost to overload, by output."""
        for output, rows in self._take_outputs():
            if self._accuracy:
                self._accuracy.compare(output, rows)
            yield output, rows
        if self.work and (lost := self.work.take_losses()):
            yield lost

    def _take_outputs(self) -> Iterator[tuple[str, pa.RecordBatch]]:
        answers, self._answers = self._answers, []
        if answers:
            yield from self.view.by_output(join(answers, answers[0].schema))

    def take_figures(self) -> dict[str, int]:
        """Transmissions and bytes since they were asked for last; where messages are lost, what that costs answers."""
        tally = self.network.radio.tally
        now = {"messages": tally.total, "bytes": sum(tally.bytes_by_mote)}
        now |= self._accuracy.count() if self._accuracy else {}
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


def _join_runs(arrived: Sequence[tuple[int, bytes]]) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Rows that came behind each other on one stream, as one batch."""
    run: list[pa.RecordBatch] = []
    for number, (stream, rows) in enumerate(arrived):
        run.append(unpack(rows))
        if number + 1 == len(arrived) or arrived[number + 1][0] != stream:
            yield stream, join(run, run[0].schema)
            run = []
