"""What an operator is: a state machine with one verb.

``transition`` takes a batch, changes state and gives a batch. An operator never blocks, never reads
a clock and does no I/O; time is an argument of ``advance``. Its state is a set of named *pages* of
bytes, so that a runtime can save what changed since the last time and no more.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from skerry.model.batch import join
from skerry.model.time import Micros
from skerry.operators.spread import Spread

__all__ = ["Chain", "Operator", "PageChanges", "StatePages"]

StatePages = Mapping[str, bytes]


@dataclass(frozen=True)
class PageChanges:
    """What to write into, and drop from, an operator's saved pages."""

    put: StatePages = field(default_factory=dict)
    drop: Sequence[str] = ()


class Operator(ABC):
    """One step of a query. ``schema`` is that of the batches it gives."""

    schema: pa.Schema

    @abstractmethod
    def transition(self, batch: pa.RecordBatch, stream: int = 0) -> pa.RecordBatch:
        """Take a batch of one of its input streams in, give what follows from it."""

    def advance(self, watermark: Micros) -> pa.RecordBatch:
        """Learn that nothing before ``watermark`` will come, give what is settled by that."""
        return join([], self.schema)

    def note_end(self, newest: Micros) -> None:  # noqa: B027
        """Learn how far the readings went, before time goes to its end: what is silence, and what is the end."""

    def pieces(self, watermark: Micros) -> Iterator[pa.RecordBatch]:
        """What ``advance`` gives, piece by piece where it may be much: most of it may not be wanted. Take them all."""
        yield self.advance(watermark)

    def changes(self) -> PageChanges:
        """The pages that changed since the last call. A stateless operator has none."""
        return PageChanges()

    def restore(self, pages: StatePages) -> None:
        """Take over the state that successive ``changes`` described. Only on a fresh operator."""
        assert not pages, "a stateless operator has no pages"

    def snapshot(self) -> StatePages:
        """The whole state. A stateless operator has none."""
        return {}

    def redistribute(self, states: Sequence[StatePages], spread: Spread) -> Sequence[StatePages] | None:
        """The states of all buckets, saved after one watermark, as those of other buckets; None if it cannot tell.

        Only on a fresh operator. Rows come to a bucket by ``spread`` from now on.
        """
        return None

    def figures(self) -> Mapping[str, int]:
        """What it has counted since it was made, for the run's account."""
        return {}

    def losses(self) -> pa.RecordBatch | None:
        """What it has given up since it was asked last; None if it gives nothing up."""
        return None

    def take_in(self, share: float) -> None:  # noqa: B027
        """From now on, take in about this share of what comes: for operators that may give things up."""


class Chain(Operator):
    """Operators behind each other, as one. At most the first may hold state."""

    def __init__(self, links: Iterable[Operator]) -> None:
        self._links = tuple(links)
        self.schema = self._links[-1].schema

    @property
    def first(self) -> Operator:
        """The one that may hold state."""
        return self._links[0]

    def replace_rest(self, links: Iterable[Operator]) -> None:
        """Put others behind the first; they give the same columns."""
        self._links = (self._links[0], *links)
        self.schema = self._links[-1].schema

    def transition(self, batch: pa.RecordBatch, stream: int = 0) -> pa.RecordBatch:
        """Hand the batch down the chain."""
        return self._pass_down(self._links[0].transition(batch, stream))

    def advance(self, watermark: Micros) -> pa.RecordBatch:
        """Advance the first, and hand what it gives down the chain."""
        return join(list(map(self._pass_down, self._links[0].pieces(watermark))), self.schema)

    def note_end(self, newest: Micros) -> None:
        """The first is told."""
        self._links[0].note_end(newest)

    def changes(self) -> PageChanges:
        """Those of the first."""
        return self._links[0].changes()

    def restore(self, pages: StatePages) -> None:
        """Restore the first."""
        self._links[0].restore(pages)

    def snapshot(self) -> StatePages:
        """That of the first."""
        return self._links[0].snapshot()

    def redistribute(self, states: Sequence[StatePages], spread: Spread) -> Sequence[StatePages] | None:
        """Those of the first."""
        return self._links[0].redistribute(states, spread)

    def figures(self) -> Mapping[str, int]:
        """Those of the first."""
        return self._links[0].figures()

    def losses(self) -> pa.RecordBatch | None:
        """Those of the first."""
        return self._links[0].losses()

    def take_in(self, share: float) -> None:
        """The first is told."""
        self._links[0].take_in(share)

    def _pass_down(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        for link in self._links[1:]:
            batch = link.transition(batch)
        return batch
