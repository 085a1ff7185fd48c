"""Aggregates on their way: a mote's contributions and its children's parts, and when it tells its parent of them."""

from collections.abc import Callable
from typing import Any

from skerry.network.message import HEADER_BYTES, Kind, Message, count_bytes
from skerry.network.mote import Board
from skerry.network.rules.claims import Stop
from skerry.network.rules.groups import Group, Groups
from skerry.network.rules.memory import Memory
from skerry.network.rules.node_program import DerivationKey, NodeProgram, NodeRule
from skerry.network.rules.packing import pack, unpack
from skerry.network.rules.partial_aggregates import read_counted, write_counted
from skerry.network.rules.routes import Routes

__all__ = ["Gathering"]


class Gathering:
    """One mote's part. ``settle`` is called with a group that lives here and has to be derived anew.

    The nearer a mote is to a group's home, the longer it waits before it speaks, so that its children, which are one
    hop farther away, have spoken.
    """

    def __init__(
        self, board: Board, program: NodeProgram, routes: Routes, memory: Memory, settle: Callable[[Group], None]
    ) -> None:
        self._board, self._routes, self._memory, self._settle = board, routes, memory, settle
        self._timing, self._groups = program.timing, Groups()
        self._rules = {rule.number: rule for rule in program.rules}
        self._version = 0

    def contribute(self, rule: NodeRule, key: DerivationKey, head: Stop, in_force: bool) -> None:
        """A derivation contributes to a group, or does so no more."""
        group = self._groups.find(rule, head.row, head.home)
        if in_force:
            group.contributions[key] = head.row
        else:
            group.contributions.pop(key, None)
        self._update(group)

    def receive(self, sender: int, content: tuple[Any, ...]) -> None:
        """A child says what it has of a group. Its messages count up, and one that was overtaken changes nothing."""
        home, number, shared, version, plain = content
        group = self._groups.get(self._rules[number], unpack(shared), home)
        if group.children.get(sender, (0, ()))[0] >= version:
            return
        group.children[sender] = (version, tuple(map(read_counted, plain)))
        if not plain:
            self._memory.forget_later(self._forget_child, group, sender, version)
        self._update(group)

    def settled(self, group: Group) -> None:
        """A group that lives here was derived anew."""
        self._groups.tidy(group)

    def _update(self, group: Group) -> None:
        if group.is_due:
            return
        group.is_due = True
        if group.home == self._board.mote:
            self._settle(group)
        else:
            ahead = self._timing.diameter - self._routes.hops[group.home]
            self._board.wake(max(ahead, 0) * self._timing.slot_us + 1, self._tell, group)

    def _tell(self, group: Group) -> None:
        """Tell the parent what is here, if that is new."""
        group.is_due, part = False, group.combine()
        parent = self._routes.next_hop(group.home)
        if part != group.sent and parent is not None:
            group.sent, self._version = part, self._version + 1
            plain = tuple(map(write_counted, part))
            body = ("gather", group.home, group.rule.number, pack(group.shared), self._version, plain)
            self._board.send(parent, Message(Kind.RESULT, body, HEADER_BYTES + count_bytes(body)))
        self._groups.tidy(group)

    def _forget_child(self, group: Group, sender: int, version: int) -> None:
        if group.children.get(sender, (0, ()))[0] == version:
            del group.children[sender]
            self._groups.tidy(group)
