"""A checkpoint folder: Spark's own log and state, our record of progress, and who uses it."""

import json
import os
import time
import uuid
from pathlib import Path

from skerry.errors import InputError, RunError
from skerry.model.atomic_write import write_atomically

__all__ = ["Checkpoint"]

_PATIENCE_SECONDS = 30.0
_UNDIVIDED = 2**62


class Checkpoint:
    """What a run must keep to go on after a crash.

    ``bucket_count`` and ``script`` are fixed with the first run: state is kept by them. So is ``unit_rows``, how many
    readings a unit may have: positions count units.
    """

    def __init__(self, folder: Path, bucket_count: int, script: str, unit_rows: int = _UNDIVIDED) -> None:
        self.folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"cannot keep a checkpoint in {str(folder)!r}: {error.strerror}") from None
        self._path = folder / "run.json"
        self.resumed = self._path.exists()
        found = json.loads(self._path.read_text()) if self.resumed else {}
        if self.resumed and found["script"] != script:
            raise InputError(f"the checkpoint {str(folder)!r} belongs to other queries; name another folder")
        self.run = found.get("run") or uuid.uuid4().hex
        self.bucket_count = int(found.get("bucket_count", bucket_count))
        self.unit_rows = int(found.get("unit_rows", _UNDIVIDED)) if self.resumed else unit_rows
        if not self.resumed:
            fixed = {"bucket_count": self.bucket_count, "unit_rows": self.unit_rows}
            _write(self._path, {"run": self.run, "script": script, **fixed})

    def take(self, processes: list[int]) -> None:
        """Claim the folder for these processes, waiting for those of a run that was killed to end."""
        path = self.folder / "processes.json"
        others = json.loads(path.read_text()) if path.exists() else []
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while alive := [other for other in others if other not in processes and _alive(other)]:
            if time.monotonic() >= deadline:
                raise RunError(f"the checkpoint {str(self.folder)!r} is in use by process {alive[0]}")
            time.sleep(0.1)
        _write(path, processes)

    def release(self) -> None:
        """Nobody uses the folder any more."""
        (self.folder / "processes.json").unlink(missing_ok=True)


def _write(path: Path, content: object) -> None:
    write_atomically(path, json.dumps(content).encode())


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return not _zombie(process)


def _zombie(process: int) -> bool:
    """A killed process whose parent has not asked for it yet does nothing any more."""
    status = Path(f"/proc/{process}/stat")
    return status.exists() and status.read_text().rpartition(")")[2].split()[0] == "Z"
