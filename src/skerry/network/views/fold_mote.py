"""What a mote does for an aggregate that is folded on its way: it merges what others send it with its own.

    slice ends          depth 2 sends   depth 1 sends   the base station has it
    |                   |               |               |
    +-------------------+---------------+---------------+----- time

One message per mote and slice, however many readings and groups' rows are behind it: up a tree, the deepest motes send
first, a slot apart, so that what a mote sends holds all that is below it. With clusters, members send to their heads,
and heads to the base station; motes in between pass that on as it is.
"""

from collections.abc import Callable

import pyarrow as pa

from skerry.model.batch import join, pack, unpack
from skerry.network.message import HEADER_BYTES, Kind, Message
from skerry.network.mote import Board
from skerry.network.views.view_mote import count_row_bytes

__all__ = ["FoldMote"]


class FoldMote:
    """One mote's partial rows by slice. ``merge`` makes one of rows with equal groups; ``deliver`` is the base's.

    ``stop`` is the mote that is sent what there is of a slice; None at the base station. If there is no way to it any
    more, the base station is sent it.
    """

    def __init__(
        self,
        board: Board,
        stop: int | None,
        base: int,
        next_hop: Callable[[int], int | None],
        schema: pa.Schema,
        merge: Callable[[pa.RecordBatch], pa.RecordBatch],
        deliver: Callable[[pa.RecordBatch], None],
    ) -> None:
        self._board, self._stop, self._base = board, stop, base
        self._next_hop, self._schema = next_hop, schema
        self._merge, self._deliver = merge, deliver
        self._kept: dict[int, list[pa.RecordBatch]] = {}
        self._latest: int | None = None
        """The latest slice that was sent."""

    def keep(self, slice_us: int, rows: pa.RecordBatch) -> None:
        """Keep partial rows of a slice until it is sent."""
        self._kept.setdefault(slice_us, []).append(rows)

    def receive(self, sender: int, message: Message) -> None:
        """Somebody has sent all it has of a slice, to this mote or to another."""
        target, slice_us, rows = message.body
        if target != self._board.mote:
            self._pass_towards(target, message)
            return
        self.keep(slice_us, unpack(rows))
        if self._latest is not None and slice_us <= self._latest:  # it came the long way, around a link that is gone
            self.send(slice_us)

    def send(self, slice_us: int) -> None:
        """Send all of a slice towards the base station, if there is anything."""
        self._latest = slice_us if self._latest is None else max(slice_us, self._latest)
        if not (kept := self._kept.pop(slice_us, None)):
            return
        rows = self._merge(join(kept, self._schema))
        if self._stop is None:
            self._deliver(rows)
            return
        size = HEADER_BYTES + count_row_bytes(rows)
        target = self._base if self._next_hop(self._stop) is None else self._stop
        self._pass_towards(target, Message(Kind.RESULT, (target, slice_us, pack(rows)), size))

    def _pass_towards(self, target: int, message: Message) -> None:
        if (following := self._next_hop(target)) is not None:
            self._board.send(following, message)
