"""Which streams of a run are kept, and for how long."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from skerry.catalog import Source
from skerry.history.folder import HistoryFolder
from skerry.history.recording import Recording
from skerry.history.retention import Retention
from skerry.model.history_options import HistoryOptions

__all__ = ["RecordingPlan"]


@dataclass(frozen=True)
class RecordingPlan:
    """The streams of a project that a run keeps, and what is kept of each."""

    folder: HistoryFolder
    streams: tuple[Source, ...]
    retentions: dict[str, Retention]

    @classmethod
    def of(cls, project: Path, sources: Sequence[Source], live: Collection[str], *, all_: bool) -> "RecordingPlan":
        """Keep the streams that say so; of those that say nothing the live ones, or all."""
        streams, retentions = [], {}
        for source in sources:
            options = HistoryOptions.parse(source.name, source.history)
            wanted = options.is_kept if options.is_kept is not None else all_ or source.name in live
            if wanted and not source.is_table:
                streams.append(source)
                retentions[source.name] = Retention(options.for_us, options.most_bytes)
        return cls(HistoryFolder(project.absolute()), tuple(streams), retentions)

    def begin(self, run: str, batch: int, kept: bool) -> Recording:
        """Record a run from a batch on; ``kept`` says whether it may go on after a crash."""
        return Recording(self.folder, self.streams, self.retentions, run, batch, kept=kept)
