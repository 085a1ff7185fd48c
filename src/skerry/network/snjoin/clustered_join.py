"""SNJoin* with motes and messages: members, heads and a collector, on one radio."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from skerry.errors import InputError
from skerry.network.message import Message
from skerry.network.mote import Board
from skerry.network.network import Network
from skerry.network.radio import RadioSettings
from skerry.network.snjoin.collector import Answer, Collector
from skerry.network.snjoin.head import ClusterHead, Roles
from skerry.network.snjoin.occurrences import Occurrences, Table
from skerry.network.snjoin.probers import ProbeAll, Prober
from skerry.network.snjoin.settings import JoinSettings
from skerry.network.snjoin.wire import pack_tuple
from skerry.network.tally import Tally
from skerry.network.topology.topology import Topology

__all__ = ["ClusteredJoin", "Outcome", "make_topology"]


class _Member:
    """A mote that senses, and sends what it reads to its head."""

    def __init__(self, board: Board, head: int) -> None:
        self._board, self._head = board, head

    def sense(self, value: int) -> None:
        self._board.send(self._head, pack_tuple(value, self._board.clock))

    def receive(self, sender: int, message: Message) -> None:
        raise InputError(f"a member of a cluster is sent nothing; mote {self._board.mote} got {message}")


@dataclass(frozen=True)
class Outcome:
    """What a run gave: answers with the times at which they came, and what it took."""

    answers: list[Answer]
    delays_us: list[int]
    """Per answer, from its tuple's time until it came."""
    tally: Tally
    begun: int
    probed: int
    dropped: int
    refused: int
    late: int
    stale: int
    operations: int


class ClusteredJoin:
    """Sensors in clusters, ready to run. ``head_of`` has for each sensor its head; a head has itself.

    ``most_skew_us`` is the largest difference between two clocks; answers are those of the times that sensors say.

    >>> join = ClusteredJoin([0, 0, 2, 2])
    >>> outcome = join.run([(1_000, 1, 7), (2_000, 3, 7)])
    >>> [(answer.arrival.sensor, answer.members) for answer in outcome.answers]
    [(1, ()), (3, ((1, 1000),))]
    """

    def __init__(
        self,
        head_of: Sequence[int],
        settings: JoinSettings | None = None,
        make_prober: Callable[[int, int], Prober] = ProbeAll,
        radio: RadioSettings | None = None,
        seed: int = 0,
        make_table: Callable[[], Table] = Occurrences,
        most_skew_us: int = 0,
    ) -> None:
        if radio is not None and radio.duplication:
            raise InputError(f"heads would find twice what they hear twice; got a duplication of {radio.duplication}")
        self._network = Network(make_topology(head_of), radio, seed, most_skew_us)
        self._simulation, boards = self._network.simulation, self._network.boards
        self._roles = Roles(tuple(sorted(set(head_of))), len(head_of))
        self._answers: list[Answer] = []
        self._delays: list[int] = []
        settings, count = settings or JoinSettings(), len(self._roles.heads)
        probers = [make_prober(own, count) for own in range(count)]
        self.heads = {
            mote: ClusterHead(boards[mote], self._roles, prober, settings, make_table())
            for mote, prober in zip(self._roles.heads, probers, strict=True)
        }
        self._sensors = [self.heads.get(mote) or _Member(boards[mote], head) for mote, head in enumerate(head_of)]
        wants_feedback = any(prober.wants_feedback for prober in probers)
        collector = Collector(boards[self._roles.collector], self._roles, wants_feedback, self._deliver)
        for mote, program in enumerate([*self._sensors, collector]):
            self._network.radio.attach(mote, program)

    def run(self, readings: Iterable[tuple[int, int, int]]) -> Outcome:
        """Let sensors read (time, sensor, value), and go on until all is quiet."""
        for time, sensor, value in readings:
            if not 0 <= sensor < len(self._sensors):
                raise InputError(f"sensors are numbered from 0 to {len(self._sensors) - 1}; got {sensor}")
            self._simulation.at(time, self._sensors[sensor].sense, value)
        self._simulation.run()
        counts = [head.counts for head in self.heads.values()]
        sums = {name: sum(getattr(each, name) for each in counts) for name in vars(counts[0])}
        return Outcome(self._answers, self._delays, self._network.radio.tally, **sums)

    def _deliver(self, answer: Answer) -> None:
        self._answers.append(answer)
        self._delays.append(self._simulation.now - answer.arrival.time)


def make_topology(head_of: Sequence[int]) -> Topology:
    """Members hear their head; heads hear each other and the collector, which is the last mote.

    >>> make_topology([0, 0, 2]).neighbours
    ((1, 2, 3), (0,), (0, 3), (0, 2))
    """
    heads, collector = sorted(set(head_of)), len(head_of)
    wrong = [mote for mote in heads if not 0 <= mote < collector or head_of[mote] != mote]
    if wrong or not heads:
        raise InputError(f"a head is one of the sensors and its own head; got {wrong or 'no sensors'}")
    inside = [(mote, head) for mote, head in enumerate(head_of) if mote != head]
    between = [(one, other) for one in heads for other in [*heads, collector] if one < other]
    return Topology.of_links(collector + 1, inside + between, name=f"clusters:{len(heads)}")
