"""The log of steps: what each is to read, written down and on the disk before it begins.

    steps/000000000012.log      the steps after step 12, one line each: a checksum, and the step as JSON

A checksum is over the step and the checksum before it, the first over the file's name and the run: a line that is
changed, missing or of another run does not pass, nor does any after it. Only the last line may be cut short, by the
crash that ended the run: its step had not begun.

A log goes on until state is saved. Then another begins, and those before it are removed once the state is on the disk.
"""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from skerry.errors import CheckpointError, RunError
from skerry.model.atomic_write import sync
from skerry.replay.replay import Position

__all__ = ["PlannedStep", "StepLog"]

_SUFFIX = ".log"


@dataclass(frozen=True)
class PlannedStep:
    """Where a step ends, which with the step before says what it reads; and the files of the tables that it sees."""

    position: Position
    tables: Mapping[str, str] = field(default_factory=dict)

    @property
    def number(self) -> int:
        """The first step's is 1."""
        return int(self.position["step"])


class StepLog:
    """The log of one run.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     log = StepLog(Path(folder), "run-7")
    ...     log.begin(0)
    ...     log.append(PlannedStep({"step": 1, "lanes": {}}))
    ...     [step.number for step in StepLog(Path(folder), "run-7").read(0)]
    [1]
    """

    def __init__(self, folder: Path, run: str) -> None:
        self._folder, self._run = folder, run
        self._path, self._digest = self._file(0), ""
        self._torn = 0

    def list_starts(self) -> list[int]:
        """After which steps logs begin."""
        return sorted(int(path.stem) for path in self._folder.glob(f"*{_SUFFIX}") if path.stem.isdigit())

    def begin(self, after: int) -> None:
        """Write the steps after one into a log of their own from now on."""
        self._path = self._file(after)
        self._digest, self._torn = self._start(self._path), 0
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._path.write_bytes(b"")
            sync([self._path])
        except OSError as error:
            raise self._fail(error) from None

    def append(self, step: PlannedStep) -> None:
        """Write a step down. It is on the disk when this returns."""
        text = json.dumps(asdict(step))
        digest = _chain(self._digest, text)
        try:
            with self._path.open("ab") as file:
                if self._torn:
                    file.truncate(file.tell() - self._torn)
                file.write(f"{digest} {text}\n".encode())
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise self._fail(error) from None
        self._digest, self._torn = digest, 0

    def read(self, after: int) -> list[PlannedStep]:
        """The steps that were planned after one, whose log must be there; more are written behind them."""
        if not self._file(after).exists():
            raise CheckpointError(str(self._file(after)), "is missing")
        found: list[PlannedStep] = []
        for start in self.list_starts():
            if start >= after:
                self._path = self._file(start)
                self._digest = self._start(self._path)
                found += self._read_lines(self._path)
        for number, step in enumerate(found, after + 1):
            if step.number != number:
                raise CheckpointError(str(self._folder), f"has step {step.number} where step {number} is to be")
        return found

    def cut(self, after: int) -> None:
        """Drop the logs of steps that are in the state as saved after a step."""
        for start in self.list_starts():
            if start < after:
                self._file(start).unlink()

    def _read_lines(self, path: Path) -> Iterator[PlannedStep]:
        *lines, torn = path.read_bytes().split(b"\n")
        for line in lines:
            digest, _, text = line.decode(errors="replace").partition(" ")
            if digest != _chain(self._digest, text):
                raise CheckpointError(str(path), "is damaged, or of another run: a checksum does not match")
            self._digest = digest
            yield PlannedStep(**json.loads(text))
        self._torn = len(torn)

    def _start(self, path: Path) -> str:
        return _chain(self._run, path.name)

    def _file(self, after: int) -> Path:
        return self._folder / f"{after:012}{_SUFFIX}"

    def _fail(self, error: OSError) -> RunError:
        return RunError(f"cannot write the checkpoint file {str(self._path)!r}: {error.strerror}")


def _chain(before: str, text: str) -> str:
    return hashlib.sha256(f"{before}\n{text}".encode()).hexdigest()
