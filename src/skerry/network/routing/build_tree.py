"""A tree built by messages: the root says its depth, and whoever hears of a shorter way takes it and says so."""

from skerry.model.time import Micros
from skerry.network.message import HEADER_BYTES, Kind, Message, count_bytes
from skerry.network.mote import Board
from skerry.network.network import Network
from skerry.network.routing.tree import Tree

__all__ = ["TreeProgram", "build_tree"]


class TreeProgram:
    """One mote's part: its depth, its parent, and the children that it has heard of.

    A mote that hears of a shorter way broadcasts (depth, parent) after ``settle_us``, once for all that it heard in the
    meantime. So children learn their depth and parents their children from the same transmission. Equal depths do not
    change a parent. Without loss the result is a breadth-first tree. With loss, depths may be longer, motes may stay
    outside, and a parent may not know a child: ``refreshes`` says how often a mote repeats what it said last, each
    time after as long as a mote waits and a message may take.
    """

    def __init__(self, board: Board, settle_us: int, refreshes: int = 0, refresh_us: int = 0) -> None:
        self.board, self._settle_us = board, settle_us
        self._refreshes, self._refresh_us = refreshes, refresh_us
        self.depth: int | None = None
        self.parent: int | None = None
        self.children: set[int] = set()
        self._is_waiting = False
        self._said = 0

    def start(self) -> None:
        """Be the root."""
        self.depth = 0
        self._announce()

    def receive(self, sender: int, message: Message) -> None:
        """A neighbour says its depth and its parent."""
        depth, parent = message.body
        if parent == self.board.mote:
            self.children.add(sender)
        else:
            self.children.discard(sender)
        if self.depth is None or depth + 1 < self.depth:
            self.depth, self.parent = depth + 1, sender
            self._announce_soon()

    def _announce_soon(self) -> None:
        if not self._is_waiting:
            self._is_waiting = True
            self.board.wake(self._settle_us, self._announce)

    def _announce(self) -> None:
        self._is_waiting = False
        self._said += 1
        self._say(self._said, self._refreshes)

    def _say(self, number: int, refreshes: int) -> None:
        """Say what is known, and again later, unless something newer was said in the meantime."""
        if number != self._said:
            return
        body = (self.depth, self.parent)
        self.board.broadcast(Message(Kind.CONTROL, body, HEADER_BYTES + count_bytes(body)))
        if refreshes:
            self.board.wake(self._refresh_us, self._say, number, refreshes - 1)


def build_tree(network: Network, root: int, settle_us: int | None = None, refreshes: int = 0) -> tuple[Tree, Micros]:
    """Run the protocol on a network, now, and give the tree and how long it took. Its messages count as control.

    By default a mote settles for the longest time that a hop may take: then nearly everybody speaks once.

    >>> from skerry.network.topology.grid import make_grid
    >>> network = Network(make_grid(3, 3))
    >>> tree, _ = build_tree(network, root=4)
    >>> tree.depths, network.radio.tally.total
    ((2, 1, 2, 1, 0, 1, 2, 1, 2), 9)
    """
    hop_us = network.radio.settings.most_delay_us
    wait_us = hop_us if settle_us is None else settle_us
    programs = network.install(lambda board: TreeProgram(board, wait_us, refreshes, hop_us + wait_us))
    begun = network.simulation.now
    programs[root].start()
    network.simulation.run()
    return Tree(root, tuple(program.parent for program in programs)), Micros(network.simulation.now - begun)
