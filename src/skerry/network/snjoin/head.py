"""A cluster head: it stores its members' tuples, begins joins, answers probes, and learns."""

from collections import deque
from dataclasses import dataclass

from skerry.errors import InputError
from skerry.network.message import Message
from skerry.network.mote import Board
from skerry.network.snjoin.occurrences import Occurrences, Table
from skerry.network.snjoin.probers import Prober
from skerry.network.snjoin.settings import JoinSettings
from skerry.network.snjoin.wire import (
    PROBE_TAG,
    TUPLE_TAG,
    WEIGHTS_TAG,
    Note,
    Probe,
    SensorTuple,
    pack_probe,
)

__all__ = ["ClusterHead", "HeadCounts", "Roles"]


@dataclass(frozen=True)
class Roles:
    """Who is who: the motes that are heads, in order, and the mote of the collector."""

    heads: tuple[int, ...]
    collector: int


@dataclass
class HeadCounts:
    """What a head has done, and what went wrong."""

    begun: int = 0
    probed: int = 0
    """Probes of other heads that it has answered."""
    dropped: int = 0
    """Tuples that found the buffer full. They are neither stored nor joined."""
    refused: int = 0
    """Probes that found the buffer full. Their tuples are stored, and have no answer."""
    late: int = 0
    """Tuples that came after ``settle_us``: others may have missed them."""
    stale: int = 0
    """Probes that came after ``patience_us``: what they would have found may be forgotten."""
    operations: int = 0


class ClusterHead:
    """Runs the three parts of the paper's Figure 3, one job at a time: probes of others before new tuples.

    A tuple is stored when it comes, and begun with when it has settled. So every probe by a later tuple finds it,
    and none by an earlier one does: the paper's Last-Processed-Tuple mark, by the tuples' own order. The mark by order
    of processing would give a pair twice when two probes cross on their way.
    """

    def __init__(
        self, board: Board, roles: Roles, prober: Prober, settings: JoinSettings, table: Table | None = None
    ) -> None:
        self.counts = HeadCounts()
        self._board, self._roles, self._prober, self._settings = board, roles, prober, settings
        self._own = roles.heads.index(board.mote)
        self._table = Occurrences() if table is None else table
        self._unbegun = 0
        self._settled: deque[SensorTuple] = deque()
        self._probes: deque[Probe] = deque()
        self._is_busy = False
        self._forgotten_us = -(2**63)

    def sense(self, value: int) -> None:
        """A reading of its own."""
        self._take(SensorTuple(value, self._board.clock, self._board.mote))

    def receive(self, sender: int, message: Message) -> None:
        """A tuple of a member, a probe of another head, or feedback of the collector."""
        tag, *body = message.body
        if tag == TUPLE_TAG:
            value, time = body
            self._take(SensorTuple(value, time, sender))
        elif tag == PROBE_TAG:
            sequence, by, found, members = body
            self._queue(Probe(sequence, SensorTuple(*by), found, members))
        elif tag == WEIGHTS_TAG:
            self._prober.learn(Note(*body))
        else:
            raise InputError(f"a cluster head knows tuples, probes and weights; got {tag!r}")

    def _queue(self, probe: Probe) -> None:
        """Let a probe wait for its turn."""
        if len(self._probes) == self._settings.buffer_size:
            self.counts.refused += 1
            return
        self._probes.append(probe)
        self._work()

    def _take(self, new: SensorTuple) -> None:
        """Store a tuple, and begin with it when it has settled."""
        if self._unbegun == self._settings.buffer_size:
            self.counts.dropped += 1
            return
        wait_us = new.time + self._settings.settle_us - self._board.clock
        self.counts.late += wait_us < 0
        self._unbegun += 1
        self._table.insert(new)
        self._board.wake(max(0, wait_us), self._settle, new)

    def _settle(self, new: SensorTuple) -> None:
        self._settled.append(new)
        self._work()

    def _work(self) -> None:
        """Do the next job, if there is one and none is being done."""
        if self._is_busy or not (self._probes or self._settled):
            return
        self._is_busy = True
        probe = self._answer(self._probes.popleft()) if self._probes else self._begin(self._settled.popleft())
        operations = 1 + self._table.lookups + probe.found[probe.sequence][1]
        self.counts.operations += operations
        self._board.wake(int(operations * self._settings.operation_us), self._ship, probe)

    def _begin(self, new: SensorTuple) -> Probe:
        """A new tuple: the local result, and the sequence of heads to probe."""
        self._unbegun -= 1
        self.counts.begun += 1
        self._forget()
        members = self._table.probe(new, self._settings.window_us)
        others = tuple((head, 0) for head in self._prober.choose(new))
        return Probe(0, new, ((self._own, len(members)), *others), members)

    def _answer(self, probe: Probe) -> Probe:
        """A probe of another head: add what is here."""
        self.counts.probed += 1
        self.counts.stale += probe.arrival.time - self._settings.window_us < self._forgotten_us
        members = self._table.probe(probe.arrival, self._settings.window_us)
        here = probe.sequence + 1
        found = (*probe.found[:here], (self._own, len(members)), *probe.found[here + 1 :])
        return Probe(here, probe.arrival, found, probe.members + members)

    def _ship(self, probe: Probe) -> None:
        """Send a probe to the next head, or to the collector if there is none."""
        following = probe.found[probe.sequence + 1 :]
        receiver = self._roles.heads[following[0][0]] if following else self._roles.collector
        self._board.send(receiver, pack_probe(probe))
        self._is_busy = False
        self._work()

    def _forget(self) -> None:
        """Let go of what no probe should ask for any more, a tenth of a window at a time."""
        edge_us = self._board.clock - self._settings.window_us - self._settings.patience_us
        if edge_us > self._forgotten_us + self._settings.window_us // 10:
            self._table.forget(edge_us)
            self._forgotten_us = edge_us
