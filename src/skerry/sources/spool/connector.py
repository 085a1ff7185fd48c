"""Sources that others send to: what comes is kept in a spool, and read from there."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa

from skerry.catalog import Source
from skerry.errors import RunError
from skerry.sources.source import Connector, Decoded, Receiving, Split
from skerry.sources.spool.decode import Decoder
from skerry.sources.spool.lane import SpoolLane
from skerry.sources.spool.segments import Segments

__all__ = ["SpooledConnector", "gather_frames"]

_BATCH_ROWS = 100_000
"""Frames are decoded together up to so many readings: a quiet source has few in each."""


@dataclass(frozen=True)
class SpooledConnector(Connector):
    """A live source with one lane, its spool. ``folder`` is given by the runtime, for all workers to see.

    ``is_kept`` says whether a later run goes on with the spool.
    """

    definition: Source
    decoder: Decoder
    folder: Path | None = None
    is_kept: bool = True
    live = True

    def spool_in(self, folder: Path, *, is_kept: bool = True) -> "SpooledConnector":
        """The same source, with its spool in a folder."""
        return replace(self, folder=folder, is_kept=is_kept)

    def lanes(self) -> Sequence[SpoolLane]:
        """The spool."""
        return [SpoolLane("spool", self._find_folder())]

    def read(self, split: Split) -> Iterator[Decoded]:
        """Decode frames, many at a time."""
        frames = Segments(self._find_folder()).read(split.start, split.stop)
        for received in gather_frames(frames):
            yield self.decoder.decode(received)

    @abstractmethod
    def receive(self) -> AbstractContextManager[Receiving]:
        """Fill the spool."""

    def inventory(self) -> str:
        """Nothing is there before it comes."""
        return "what it is sent"

    def _find_folder(self) -> Path:
        if self.folder is None:
            raise RunError(f"source {self.definition.name!r} has no spool")
        return self.folder


def gather_frames(frames: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Join frames up to a good number of rows."""
    kept: list[pa.RecordBatch] = []
    for frame in frames:
        kept.append(frame)
        if sum(batch.num_rows for batch in kept) >= _BATCH_ROWS:
            yield pa.concat_batches(kept)
            kept = []
    if kept:
        yield pa.concat_batches(kept)
