"""What a mote does for a view: it sends its rows their way, passes others' rows on, and keeps what meets here.

A message's body is ``(way, target, origin, number, stream, rows)``: ``rows`` are Arrow bytes. Its size is counted as a
mote would pack it: values without names and padding.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import pyarrow as pa

from skerry.model.batch import pack
from skerry.network.message import HEADER_BYTES, Kind, Message
from skerry.network.mote import Board
from skerry.network.views.way import TREE_WAYS, Way

__all__ = ["ADDRESS_BYTES", "Directions", "Share", "ViewMote", "count_row_bytes", "pack_row"]

ADDRESS_BYTES = 6
"""Way and target, origin, number, stream: what a row carries beside its values."""

Arrival = Callable[[int, int, bytes], None]
"""What is told of rows that have come: the mote, the stream, the rows."""


class Directions:
    """What one mote knows of the ways of rows, as a set-up phase would tell it.

    ``is_acknowledged``: what goes along a tree is sent to each child in turn, so that it is repeated if it is lost;
    otherwise one transmission serves all.
    """

    def __init__(
        self,
        next_hop: Callable[[int], int | None],
        find_share: Callable[[Way, int], "Share"],
        is_acknowledged: bool = False,
    ) -> None:
        self.next_hop, self.find_share, self.is_acknowledged = next_hop, find_share, is_acknowledged


class Share(NamedTuple):
    """One mote's share in the tree of rows that arise at some mote: from whom, to whom, and whether they are kept."""

    parent: int | None
    children: tuple[int, ...]
    keeps: bool


class ViewMote:
    """One mote's share of a view. ``arrived`` is called with what meets here."""

    def __init__(self, board: Board, directions: Directions, arrived: Arrival) -> None:
        self._board, self._directions, self._arrived = board, directions, arrived
        self._seen: set[tuple[int, int]] = set()
        self._sent = 0

    def start(self, way: Way, target: int, stream: int, rows: bytes, size: int, kind: Kind) -> None:
        """Send rows of this mote's own on their way."""
        me, self._sent = self._board.mote, self._sent + 1
        message = Message(kind, (str(way), target, me, self._sent, stream, rows), HEADER_BYTES + ADDRESS_BYTES + size)
        if way in TREE_WAYS:
            self._pass_down(message, self._directions.find_share(way, me))
        elif way is Way.FLOOD:
            self._pass_to_all(message)
        elif way is Way.STAY:
            self._arrived(me, stream, rows)
        else:
            self._pass_towards(message, target)

    def receive(self, sender: int, message: Message) -> None:
        """Take, and pass on, what has come from a neighbour."""
        way, target, origin, _, _, _ = message.body
        if way in TREE_WAYS:
            share = self._directions.find_share(Way(way), origin)
            if share.parent == sender:
                self._pass_down(message, share)
        elif way == Way.FLOOD:
            self._pass_to_all(message)
        else:
            self._pass_towards(message, target)

    def _pass_down(self, message: Message, share: Share) -> None:
        if not self._is_new(message):
            return
        if share.keeps:
            self._take(message)
        if share.children and not self._directions.is_acknowledged:
            self._board.broadcast(message)
            return
        for child in share.children:
            self._board.send(child, message)

    def _pass_to_all(self, message: Message) -> None:
        if self._is_new(message):
            self._take(message)
            self._board.broadcast(message)

    def _pass_towards(self, message: Message, target: int) -> None:
        if target == self._board.mote:
            self._take(message)
        elif (following := self._directions.next_hop(target)) is not None:
            self._board.send(following, message)

    def _take(self, message: Message) -> None:
        _, _, _, _, stream, rows = message.body
        self._arrived(self._board.mote, stream, rows)

    def _is_new(self, message: Message) -> bool:
        _, _, origin, number, _, _ = message.body
        known = (origin, number) in self._seen
        self._seen.add((origin, number))
        return not known


def count_row_bytes(rows: pa.RecordBatch) -> int:
    """What the values of rows take without names and padding: fixed widths, and texts with a byte for their length.

    >>> count_row_bytes(pa.RecordBatch.from_pydict({"key": ["ab", "c"], "x": [1.0, 2.0], "n": [True, False]}))
    23
    """
    return sum(_count_column(rows.column(number)) for number in range(rows.num_columns))


def _count_column(column: pa.Array) -> int:
    if pa.types.is_fixed_size_binary(column.type) or pa.types.is_boolean(column.type):
        return len(column) * max(column.type.bit_width // 8, 1)
    if pa.types.is_primitive(column.type) or pa.types.is_decimal(column.type):
        return len(column) * column.type.bit_width // 8
    return sum(_count_value(value) for value in column.to_pylist())


def _count_value(value: Any) -> int:
    if value is None:
        return 1
    if isinstance(value, str | bytes):
        return 1 + len(value.encode() if isinstance(value, str) else value)
    if isinstance(value, list | tuple):
        return 1 + sum(map(_count_value, value))
    if isinstance(value, dict):
        return sum(map(_count_value, value.values()))
    return 8


def pack_row(rows: pa.RecordBatch, number: int) -> tuple[bytes, int]:
    """One row as bytes, and what a mote's message would take for it."""
    row = rows.slice(number, 1)
    return pack(row), count_row_bytes(row)
