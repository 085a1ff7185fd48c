"""What a mote does for an aggregate that is folded on its way: it merges what its children send with its own.

    slice ends          depth 2 sends   depth 1 sends   the base station has it
    |                   |               |               |
    +-------------------+---------------+---------------+----- time

One message per mote and slice, however many readings and groups' rows are behind it: the deepest motes send first, a
slot apart, so that what a mote sends holds all that is below it.
"""

from collections.abc import Callable

import pyarrow as pa

from skerry.model.batch import join, pack, unpack
from skerry.network.message import HEADER_BYTES, Kind, Message
from skerry.network.mote import Board
from skerry.network.views.view_mote import count_row_bytes

__all__ = ["FoldMote"]


class FoldMote:
    """One mote's partial rows by slice. ``merge`` makes one of rows with equal groups; ``deliver`` is the base's."""

    def __init__(
        self,
        board: Board,
        parent: int | None,
        schema: pa.Schema,
        merge: Callable[[pa.RecordBatch], pa.RecordBatch],
        deliver: Callable[[pa.RecordBatch], None],
    ) -> None:
        self._board, self._parent, self._schema = board, parent, schema
        self._merge, self._deliver = merge, deliver
        self._kept: dict[int, list[pa.RecordBatch]] = {}

    def keep(self, slice_us: int, rows: pa.RecordBatch) -> None:
        """Keep partial rows of a slice until it is sent."""
        self._kept.setdefault(slice_us, []).append(rows)

    def receive(self, sender: int, message: Message) -> None:
        """A child has sent all it has of a slice."""
        slice_us, rows = message.body
        self.keep(slice_us, unpack(rows))

    def send(self, slice_us: int) -> None:
        """Send all of a slice towards the base station, if there is anything."""
        if not (kept := self._kept.pop(slice_us, None)):
            return
        rows = self._merge(join(kept, self._schema))
        if self._parent is None:
            self._deliver(rows)
            return
        size = HEADER_BYTES + count_row_bytes(rows)
        self._board.send(self._parent, Message(Kind.RESULT, (slice_us, pack(rows)), size))
