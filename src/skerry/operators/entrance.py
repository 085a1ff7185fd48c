"""Several ways into the same stream of an operator."""

from collections.abc import Iterator, Mapping, Sequence

import pyarrow as pa

from skerry.model.time import Micros
from skerry.operators.operator import Operator, PageChanges, StatePages
from skerry.operators.spread import Spread

__all__ = ["Entrance"]


class Entrance(Operator):
    """An operator whose streams come from more sources than it has streams (``UNION ALL`` below it).

    ``streams`` says, by source, which of the operator's streams its rows are. All else is the operator's own.

    >>> from skerry.model.expression import Expression
    >>> from skerry.operators.derive import Derive
    >>> entrance = Entrance(Derive([("speed", Expression.of("speed", pa.int64()))]), [0, 0])
    >>> entrance.transition(pa.record_batch({"speed": [30]}), 1).to_pydict()
    {'speed': [30]}
    """

    def __init__(self, operator: Operator, streams: Sequence[int]) -> None:
        self._operator, self._streams = operator, tuple(streams)
        self.schema = operator.schema

    def transition(self, batch: pa.RecordBatch, stream: int = 0) -> pa.RecordBatch:
        """Hand the rows on as rows of their stream."""
        return self._operator.transition(batch, self._streams[stream])

    def advance(self, watermark: Micros) -> pa.RecordBatch:
        """As the operator does."""
        return self._operator.advance(watermark)

    def note_end(self, newest: Micros) -> None:
        """The operator is told."""
        self._operator.note_end(newest)

    def pieces(self, watermark: Micros) -> Iterator[pa.RecordBatch]:
        """Those of the operator."""
        return self._operator.pieces(watermark)

    def changes(self) -> PageChanges:
        """Those of the operator."""
        return self._operator.changes()

    def restore(self, pages: StatePages) -> None:
        """Restore the operator."""
        self._operator.restore(pages)

    def snapshot(self) -> StatePages:
        """That of the operator."""
        return self._operator.snapshot()

    def redistribute(self, states: Sequence[StatePages], spread: Spread) -> Sequence[StatePages] | None:
        """Those of the operator, by the keys of its own streams."""
        keys = {stream: keys for stream, keys in zip(self._streams, spread.keys, strict=True)}
        own = tuple(keys[stream] for stream in sorted(keys))
        return self._operator.redistribute(states, Spread(own, spread.count))

    def figures(self) -> Mapping[str, int]:
        """Those of the operator."""
        return self._operator.figures()

    def losses(self) -> pa.RecordBatch | None:
        """Those of the operator."""
        return self._operator.losses()

    def take_in(self, share: float) -> None:
        """The operator is told."""
        self._operator.take_in(share)
