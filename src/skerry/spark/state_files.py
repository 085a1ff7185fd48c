"""The files that the state of a batch is loaded from: a snapshot, what it refers to, and the changes since.

    state/0/BUCKET/40.zip            a snapshot; it lists the files it is made of
    state/0/BUCKET/SSTs/NAME.sst     one of those, under the name that the snapshot gives it
    state/0/BUCKET/41.changelog      what the batch changed that led to version 41

Spark loads the newest snapshot up to a version, and the changes after it. Where a file is missing or damaged it says
that state cannot be loaded, and not always which file. So these are looked at first; others are not needed.
"""

import json
import zipfile
from collections.abc import Iterator
from pathlib import Path

from skerry.errors import CheckpointError
from skerry.spark.hadoop_checksum import is_intact

__all__ = ["check_state", "drop_undone"]


def drop_undone(folder: Path, version: int) -> None:
    """Remove what batches left that were not done: they run again, and may give their pages other names.

    Spark would write the changes anew, but take a snapshot that was uploaded before for one of the new state.
    """
    for path in folder.glob("*/*/*.*"):
        number = path.name.lstrip(".").partition(".")[0]
        if path.parent.name.isdigit() and number.isdigit() and int(number) > version:
            path.unlink()


def check_state(folder: Path, version: int, bucket_count: int) -> None:
    """Refuse to go on if some bucket's state of a version cannot be loaded.

    An earlier layout may have had more buckets; those are not needed any more.
    """
    for bucket in sorted(folder.glob("*/*")):
        if bucket.name.isdigit() and int(bucket.name) < bucket_count:
            for path in _list_needed(bucket, version):
                if not path.exists():
                    raise CheckpointError(str(path), "is missing")
                if not is_intact(path):
                    raise CheckpointError(str(path), "is damaged: its checksum does not match")


def _list_needed(bucket: Path, version: int) -> Iterator[Path]:
    """The files of a version, each before what it refers to."""
    snapshots = [int(path.stem) for path in bucket.glob("*.zip") if path.stem.isdigit()]
    snapshot = max((found for found in snapshots if found <= version), default=0)
    if snapshot == 0 and version > 0:
        # The first version is a snapshot always.
        yield bucket / "1.zip"
    elif snapshot:
        yield bucket / f"{snapshot}.zip"
        yield from _list_parts(bucket / f"{snapshot}.zip")
    for number in range(snapshot + 1, version + 1):
        yield bucket / f"{number}.changelog"


def _list_parts(snapshot: Path) -> Iterator[Path]:
    """What a snapshot refers to."""
    try:
        with zipfile.ZipFile(snapshot) as archive:
            lines = archive.read("metadata").decode().splitlines()
    except (OSError, KeyError, zipfile.BadZipFile):
        raise CheckpointError(str(snapshot), "is damaged: it cannot be read") from None
    for kind, folder in (("sstFiles", "SSTs"), ("logFiles", "logs")):
        for each in json.loads(lines[-1]).get(kind) or ():
            if name := each.get("dfsSstFileName") or each.get("dfsLogFileName"):
                yield snapshot.parent / folder / name
