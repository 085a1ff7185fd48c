"""HEED: motes with much energy left become heads, and everybody ends up beside one.

Younis, Fahmy: HEED: a hybrid, energy-efficient, distributed clustering approach for ad hoc sensor networks, 2004.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from skerry.errors import InputError
from skerry.network.clusters.clusters import Clusters
from skerry.network.message import HEADER_BYTES, Kind, Message, count_bytes
from skerry.network.mote import Board
from skerry.network.network import Network

__all__ = ["HeedProgram", "HeedSettings", "form_clusters"]

_TENTATIVE, _FINAL, _JOIN = 0, 1, 2


@dataclass(frozen=True)
class HeedSettings:
    """The share of motes that should be heads to begin with, the least probability of a mote, and a round's time.

    ``round_us`` None means a little longer than the longest hop, so that what is said in a round is heard in it.
    """

    share: float = 0.05
    least: float = 1e-4
    round_us: int | None = None

    def __post_init__(self) -> None:
        """Refuse what is no probability."""
        if not 0.0 < self.least <= self.share <= 1.0:
            raise InputError(f"0 < least <= share <= 1 are the probabilities of HEED; got {self.least}, {self.share}")


class HeedProgram:
    """One mote's part.

    In each round a mote that knows of no head becomes a tentative one with its probability, which doubles from round
    to round. A tentative head repeats in each round that it is one, and stands back when it hears of a cheaper one:
    who is a head is found anew in each round, so that motes which counted on one that stood back look for another.
    Whose probability has reached 1 becomes a final head unless there is a cheaper one, and whoever has heard of no
    final head at the end becomes one itself: so the number of rounds is bounded, and nobody is left alone, even if
    messages are lost. The cost of a head is its number of neighbours, which spreads load; equal costs are decided by
    the lower number.
    """

    def __init__(self, board: Board, residual: float, settings: HeedSettings, round_us: int, random: Random) -> None:
        self.board, self.head = board, board.mote
        self.members: set[int] = set()
        self.rounds = 0
        self.is_final = False
        self._probability = max(settings.share * residual, settings.least)
        self._round_us, self._random = round_us, random
        self._heard: dict[int, tuple[int, int]] = {}
        """Heads as of the last round, this mote with them: their cost, and whether they are final."""

    def start(self) -> None:
        """Begin the first round."""
        self._do_round()

    def receive(self, sender: int, message: Message) -> None:
        """A neighbour is a head, or has joined this one."""
        status, cost = message.body
        if status == _JOIN:
            self.members.add(sender)
        else:
            self._heard[sender] = (cost, status)

    def _do_round(self) -> None:
        self.rounds += 1
        is_last = self._probability >= 1.0
        stands = not self.is_final and self._stands()
        self._heard = {mote: heard for mote, heard in self._heard.items() if heard[1] == _FINAL}
        if stands:
            self._announce(_FINAL if is_last else _TENTATIVE)
        self._probability = min(2.0 * self._probability, 1.0)
        self.board.wake(self._round_us, self._finish if is_last else self._do_round)

    def _stands(self) -> bool:
        """Whether it is to be a head in this round: the cheapest known, or the first by its luck."""
        if self._heard:
            return self._find_cheapest(self._heard) == self.board.mote
        return self._probability >= 1.0 or self._random.random() <= self._probability

    def _announce(self, status: int) -> None:
        cost = len(self.board.neighbours)
        self.is_final = status == _FINAL
        self._heard[self.board.mote] = (cost, status)
        self.board.broadcast(_say(status, cost))

    def _finish(self) -> None:
        """Join the cheapest final head, or be one."""
        finals = {mote: heard for mote, heard in self._heard.items() if heard[1] == _FINAL}
        if self.is_final or not finals:
            if not self.is_final:
                self._announce(_FINAL)
            return
        self.head = self._find_cheapest(finals)
        self.board.send(self.head, _say(_JOIN, 0))

    def _find_cheapest(self, heads: dict[int, tuple[int, int]]) -> int:
        return min(heads, key=lambda mote: (heads[mote][0], mote))


def _say(status: int, cost: int) -> Message:
    return Message(Kind.CONTROL, (status, cost), HEADER_BYTES + count_bytes((status, cost)))


def form_clusters(
    network: Network, residuals: Sequence[float] | None = None, settings: HeedSettings | None = None, seed: int = 0
) -> Clusters:
    """Run one epoch of the protocol on a network, now. ``residuals`` are fractions of batteries that are left.

    >>> from skerry.network.topology.grid import make_grid
    >>> clusters = form_clusters(Network(make_grid(4, 4)), seed=3)
    >>> all(clusters.head_of[mote] is not None for mote in range(16))
    True
    """
    chosen = settings or HeedSettings()
    round_us = network.radio.settings.most_delay_us + 1 if chosen.round_us is None else chosen.round_us

    def make(board: Board) -> HeedProgram:
        residual = 1.0 if residuals is None else residuals[board.mote]
        return HeedProgram(board, residual, chosen, round_us, Random(f"heed {seed} {board.mote}"))

    programs = [each for each in network.install(make) if each.board.is_alive]
    for program in programs:
        program.start()
    network.simulation.run()
    heads = {program.board.mote: program.head for program in programs if program.board.is_alive}
    return Clusters(tuple(heads.get(mote) for mote in range(len(network.topology))))
