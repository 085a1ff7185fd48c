"""Spark's own log of a streaming query: positions ahead of each batch, and which batches are done.

    spark/metadata      the query's id
    spark/offsets/7     where batch 7 ends: written before it runs
    spark/commits/7     batch 7 is done: written after deliver has recorded it
    spark/state/0/BUCKET/8.changelog    the state that batch 7 left

Spark guards these files with checksums of their own (``.7.crc``), yet takes what is missing for not having been, and
does not wait until the disk has what it wrote. So the record of progress holds a digest of the positions, both are
compared before a run goes on, and a batch is recorded only after its files are on the disk.
"""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from skerry.errors import CheckpointError
from skerry.model.atomic_write import sync
from skerry.spark.hadoop_checksum import is_intact
from skerry.spark.progress import Progress
from skerry.spark.saved_layout import SavedLayout
from skerry.spark.state_files import check_state, drop_undone

__all__ = ["SparkLog"]


class SparkLog:
    """The log in a checkpoint's folder."""

    def __init__(self, folder: Path, *, synced: bool = False) -> None:
        self.folder = folder
        self._synced = synced

    @property
    def planned(self) -> int:
        """The last batch that Spark has planned; -1 if there is none."""
        return self._last("offsets")

    @property
    def done(self) -> int:
        """The last batch that Spark has done; -1 if there is none."""
        return self._last("commits")

    @property
    def begun(self) -> bool:
        """Whether a batch has been planned."""
        return self.planned >= 0

    def digest(self, batch: int) -> str:
        """What the positions of a batch are known by again."""
        return hashlib.sha256(self._offsets(batch).read_bytes()).hexdigest()

    def read_position(self, batch: int) -> dict[str, Any]:
        """Where a batch ends, as planned: Skerry's own source is the first of those that are logged."""
        path = self._offsets(batch)
        try:
            _, _, position, *_ = path.read_bytes().split(b"\n")
            found: dict[str, Any] = json.loads(position)
        except FileNotFoundError:
            raise CheckpointError(str(path), "is missing") from None
        except ValueError:
            raise CheckpointError(str(path), "is damaged: there is no position in it") from None
        return found

    def settle(self, batch: int) -> None:
        """Return when the positions of a batch, the state it left, and the end of the batch before are on the disk."""
        if self._synced:
            written = [self.folder / "metadata", self._offsets(batch), self.folder / "commits" / str(batch - 1)]
            written += (self.folder / "state").glob(f"*/*/{batch + 1}.*")
            beside = [path.with_name(f".{path.name}.crc") for path in written]
            sync([path for path in (*written, *beside) if path.exists()])

    def drop_unfinished(self, progress: Progress) -> None:
        """Let a batch be planned anew if its positions are not there as they were written: power may have been lost.

        Nothing of such a batch has been recorded, and what it may have written is replaced.
        """
        path = self._offsets(progress.next_batch)
        if path.exists() and not (_is_whole(path) and is_intact(path)):
            path.unlink()
            path.with_name(f".{path.name}.crc").unlink(missing_ok=True)

    def drop_undone(self) -> None:
        """Remove the state that a batch left which was not done: it runs again. Nobody else may be at work on it."""
        drop_undone(self.folder / "state", self.done + 1)

    def check(self, progress: Progress, record: Path, layout: SavedLayout) -> None:
        """Refuse to go on if the log and the record of progress cannot be of one run that broke off."""
        planned, done, recorded = self.planned, self.done, progress.next_batch - 1
        if layout.move and done == layout.move.own_batch == recorded + 1:
            recorded = done  # a change of layout broke off before it was recorded
        if max(planned, done) >= 0:
            self._require(self.folder / "metadata")
        if done > recorded or planned > recorded + 1:
            known = f"knows batches up to {recorded}" if record.exists() else "is missing"
            raise CheckpointError(str(record), f"{known}, while Spark's log has batch {max(done, planned - 1)}")
        for batch in range(max(0, recorded - 1), recorded + 1):
            self._check_digest(batch, progress)
        if planned > recorded >= 0 or recorded > 0:
            self._require(self.folder / "commits" / str(recorded - (planned == recorded)))
        self._check_descriptions(done)
        check_state(self.folder / "state", done + 1, layout.find_bucket_count(done))

    def _check_descriptions(self, done: int) -> None:
        """Look at the small files: the query's id, the last commit, and what says what state there is."""
        for path in (self.folder / "metadata", self.folder / "commits" / str(done), *self._list_descriptions()):
            if path.exists() and not is_intact(path):
                raise CheckpointError(str(path), "is damaged: its checksum does not match")
        for operator in (self.folder / "state").glob("[0-9]*"):
            if done >= 0 and not any(operator.glob("_metadata/**/[0-9]*")):
                raise CheckpointError(str(operator / "_metadata"), "is missing, or has no file")

    def _check_digest(self, batch: int, progress: Progress) -> None:
        path = self._offsets(batch)
        self._require(path)
        if (known := progress.digest_of(batch)) and known != self.digest(batch):
            raise CheckpointError(str(path), "is damaged: it is not the one that the record of progress knows")
        if not is_intact(path):
            beside = path.with_name(f".{path.name}.crc")
            raise CheckpointError(str(beside), f"is damaged: it does not fit {path.name!r}")

    def _list_descriptions(self) -> Iterator[Path]:
        """The files that say what state there is."""
        for kind in ("_metadata", "_stateSchema"):
            for path in (self.folder / "state").glob(f"*/{kind}/**/*"):
                if path.is_file() and not path.name.startswith("."):
                    yield path

    def _require(self, path: Path) -> None:
        if not path.exists():
            raise CheckpointError(str(path), "is missing")

    def _offsets(self, batch: int) -> Path:
        return self.folder / "offsets" / str(batch)

    def _last(self, name: str) -> int:
        """The newest batch that a part of the log has; -1 if it has none."""
        folder = self.folder / name
        entries = folder.iterdir() if folder.is_dir() else ()
        return max((int(path.name) for path in entries if path.name.isdigit()), default=-1)


def _is_whole(path: Path) -> bool:
    """Whether an entry has what each has: a version, and then lines of JSON."""
    version, *lines = path.read_bytes().split(b"\n")
    try:
        found = [json.loads(line) for line in lines if line != b"-"]
    except ValueError:
        return False
    return bool(version) and len(found) >= 2
