"""Where the history of a project is.

    DIR/history/traffic/day=2026-01-31/part-00000007-3.parquet    what task 3 has of batch 7
    DIR/.skerry/history/                                          what no reader is to see (``history.recording``)

Beside its declared columns, a stored reading has four more, so that a run can be replayed: its batch, its position in
the batch, and the two that tell the order of arrival (``model.arrival``).
"""

from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from skerry.model.arrival import STAMPS
from skerry.sinks.parts import Part, find_parts

__all__ = ["BATCH", "ORDER", "POSITION", "HistoryFolder"]

BATCH, POSITION = "#batch", "#position"
ORDER = (pa.field(BATCH, pa.int64()), pa.field(POSITION, pa.int64()), *STAMPS)
"""The columns that a stored reading has beside its own."""


@dataclass(frozen=True)
class HistoryFolder:
    """The history of one project."""

    project: Path

    @property
    def root(self) -> Path:
        """What readers see."""
        return self.project / "history"

    @property
    def workshop(self) -> Path:
        """What they do not."""
        return self.project / ".skerry" / "history"

    @property
    def staged(self) -> Path:
        """Where files wait until their batch is done."""
        return self.workshop / "staged"

    def streams(self) -> list[str]:
        """The streams that have a history."""
        return sorted(path.name for path in self.root.iterdir() if path.is_dir()) if self.root.is_dir() else []

    def days(self, stream: str) -> list[Path]:
        """The folders of a stream, the oldest day first."""
        folder = self.root / stream
        return sorted(path for path in folder.glob("day=*") if path.is_dir()) if folder.is_dir() else []

    def parts(self, stream: str) -> list[Part]:
        """All files of a stream, in the order of days and batches."""
        found: list[Part] = []
        for day in self.days(stream):
            try:
                found += find_parts(day)
            except FileNotFoundError:  # given up meanwhile
                continue
        return found
