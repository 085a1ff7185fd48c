"""What a mote does for a view: it sends its rows their way, passes others' rows on, and keeps what meets here.

A message's body is ``(way, target, origin, number, stream, rows)``: ``rows`` are Arrow bytes. Its size is counted as a
mote would pack it: values without names and padding.
"""

from collections.abc import Callable
from typing import Any

import pyarrow as pa

from skerry.model.batch import pack
from skerry.network.message import HEADER_BYTES, Kind, Message
from skerry.network.mote import Board
from skerry.network.views.placement import Way

__all__ = ["ADDRESS_BYTES", "Directions", "ViewMote", "count_row_bytes", "pack_row"]

ADDRESS_BYTES = 6
"""Way and target, origin, number, stream: what a row carries beside its values."""

Arrival = Callable[[int, int, bytes], None]
"""What is told of rows that have come: the mote, the stream, the rows."""


class Directions:
    """What a mote knows of its surroundings for one field: next hops, and its neighbours along its row and column."""

    def __init__(
        self,
        next_hop: Callable[[int], int],
        base: int,
        along: dict[Way, tuple[int, ...]],
    ) -> None:
        self.next_hop, self.base, self.along = next_hop, base, along


class ViewMote:
    """One mote's share of a view. ``arrived`` is called with what meets here."""

    def __init__(self, board: Board, directions: Directions, arrived: Arrival) -> None:
        self._board, self._directions, self._arrived = board, directions, arrived
        self._seen: set[tuple[int, int]] = set()
        self._sent = 0

    def start(self, way: Way, target: int, stream: int, rows: bytes, size: int, kind: Kind) -> None:
        """Send rows of this mote's own on their way."""
        me, self._sent = self._board.mote, self._sent + 1
        body = (str(way), target, me, self._sent, stream, rows)
        message = Message(kind, body, HEADER_BYTES + ADDRESS_BYTES + size)
        if way in (Way.UP, Way.HASH):
            self._pass_towards(message, target)
            return
        self._seen.add((me, self._sent))
        self._arrived(me, stream, rows)
        if way is not Way.STAY and self._may_be_heard(way):
            self._board.broadcast(message)

    def receive(self, sender: int, message: Message) -> None:
        """Take, and pass on, what has come from a neighbour."""
        way, target, origin, number, stream, rows = message.body
        if way in (Way.UP, Way.HASH):
            self._pass_towards(message, target)
        elif way == Way.FLOOD:
            if self._is_new(origin, number):
                self._arrived(self._board.mote, stream, rows)
                self._board.broadcast(message)
        elif sender in self._directions.along[Way(way)] and self._is_new(origin, number):
            self._arrived(self._board.mote, stream, rows)
            for other in self._directions.along[Way(way)]:
                if other != sender:
                    self._board.send(other, message)

    def _may_be_heard(self, way: Way) -> bool:
        return way is Way.FLOOD or bool(self._directions.along[way])

    def _pass_towards(self, message: Message, target: int) -> None:
        if target == self._board.mote:
            _, _, _, _, stream, rows = message.body
            self._arrived(target, stream, rows)
        else:
            self._board.send(self._directions.next_hop(target), message)

    def _is_new(self, origin: int, number: int) -> bool:
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
