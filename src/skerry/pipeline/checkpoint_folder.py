"""The folder that a run is kept in, and which run that is: the same for all runtimes.

    run.json            which run it is, on which runtime, and what was asked for: fixed with the first start
    tables/, registry/, views/  the versions of tables, subscriptions and views that steps see

What else is in it is the runtime's (``spark.checkpoint``, ``fjord.checkpoint``). What a run left is looked at before
a run that goes on touches anything.
"""

import json
import uuid
from itertools import zip_longest
from pathlib import Path

from skerry.errors import InputError
from skerry.model.folder_error import explain_folder
from skerry.model.sealed_folder import SealedFolder

__all__ = ["CheckpointFolder", "describe_difference", "make_folder", "read_kept_run"]

_RUN = "run.json"
_CONTENTS = ("progress.json", "layout.json", "tables", "registry", "views", "spark", "state", "steps")
"""What a run leaves beside ``run.json``, on whichever runtime."""


class CheckpointFolder:
    """What a run is, in the folder that keeps it.

    ``script`` is fixed with the first run: state is kept by it. So is ``unit_rows``, how many readings a unit may have:
    positions count units. And so is the runtime, since each keeps state in its own way. ``kept`` says that a later
    process may go on from here, so that files must outlive a loss of power.
    """

    def __init__(self, folder: Path, runtime: str, script: str, unit_rows: int, *, kept: bool = True) -> None:
        self.folder = folder = make_folder(folder)
        own = SealedFolder(folder, "", kept)
        found = json.loads(own.read(_RUN)) if own.file(_RUN).exists() or _holds_a_run(folder) else None
        if found:
            _check(folder, found, runtime, script)
        self.run: str = found["run"] if found else uuid.uuid4().hex
        self.unit_rows = int(found["unit_rows"] if found else unit_rows)
        if not found:
            fixed = {"run": self.run, "runtime": runtime, "script": script, "unit_rows": self.unit_rows}
            own.write(_RUN, json.dumps(fixed).encode())
        self.files = SealedFolder(folder, self.run, kept)

    def part(self, name: str) -> SealedFolder:
        """A folder inside, of the same run."""
        return SealedFolder(self.folder / name, self.run, self.files.synced)


def read_kept_run(folder: Path) -> dict[str, str] | None:
    """Which run a folder keeps, and what it is of, if it keeps one."""
    own = SealedFolder(folder, "")
    return json.loads(own.read(_RUN)) if own.file(_RUN).exists() else None


def make_folder(folder: Path) -> Path:
    """Make the folder if it is not there; give its absolute path, for executors have other working folders."""
    folder = folder.absolute()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot keep a checkpoint in {str(folder)!r}: {explain_folder(error)}") from None
    return folder


def _holds_a_run(folder: Path) -> bool:
    return any((folder / name).exists() for name in _CONTENTS)


def _check(folder: Path, found: dict[str, str], runtime: str, script: str) -> None:
    """Refuse a run on another runtime, or of other queries."""
    before = found.get("runtime", "spark")
    if before != runtime:
        wrong = f"the checkpoint {str(folder)!r} was begun with --runtime {before}, and keeps state as that does"
        raise InputError(f"{wrong}; go on with --runtime {before}, or name another folder")
    if found["script"] != script:
        raise InputError(describe_difference(folder, found["script"], script))


def describe_difference(folder: Path, before: str, now: str) -> str:
    """Say where two scripts differ first."""
    pairs = zip_longest(before.splitlines(), now.splitlines(), fillvalue="nothing")
    was, is_ = next(pair for pair in pairs if pair[0] != pair[1])
    wrong = f"the checkpoint {str(folder)!r} belongs to other queries: it was begun with {was!r}, where now is {is_!r}"
    return f"{wrong}; go on with what it was begun with, or name another folder"
