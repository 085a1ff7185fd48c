"""What a history gives up: what is older than its stream is to be kept, and the oldest of what is too much.

Age counts from the newest reading that is kept, not from the clock: readings of last year that are recorded today are
not given up at once. Whole files go, when the last of their readings is too old.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import pyarrow.parquet as pq

from skerry.history.folder import HistoryFolder
from skerry.model.time import START_OF_TIME, Micros
from skerry.sinks.parts import Part

__all__ = ["Retention", "find_given_up"]


@dataclass(frozen=True)
class Retention:
    """For how long a stream's readings are kept, and how many bytes of them; None: for ever, all."""

    for_us: Micros | None = None
    most_bytes: int | None = None


def find_given_up(folder: HistoryFolder, stream: str, event_time: str | None, retention: Retention) -> Iterator[Path]:
    """The files of a stream that are not kept any more, the oldest first.

    Without an event time, files are as old as their batches.
    """
    parts = folder.parts(stream)
    ends = {part.path: _find_last(part.path, event_time) for part in parts} if event_time else {}
    newest = max(ends.values(), default=START_OF_TIME)
    by_age = sorted(parts, key=lambda part: (ends.get(part.path, START_OF_TIME), part.first))
    too_many = sum(_size(part) for part in parts) - retention.most_bytes if retention.most_bytes is not None else 0
    for part in by_age:
        is_old = event_time is not None and retention.for_us is not None and ends[part.path] < newest - retention.for_us
        if not is_old and too_many <= 0:
            return
        too_many -= _size(part)
        yield part.path


def _size(part: Part) -> int:
    return part.path.stat().st_size


@lru_cache(maxsize=1 << 14)
def _find_last(path: Path, event_time: str) -> Micros:
    """The newest event time in a file. Files never change, and their names are not used again."""
    metadata = pq.read_metadata(path)
    leaf = next(n for n in range(metadata.num_columns) if metadata.schema.column(n).path == event_time)
    groups = (metadata.row_group(group).column(leaf).statistics for group in range(metadata.num_row_groups))
    found = [int(group.max_raw) for group in groups if group is not None and group.has_min_max]
    return Micros(max(found, default=START_OF_TIME))
