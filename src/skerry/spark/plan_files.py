"""Versions of the views on their way to a run's own workers, in files that every node sees.

    plans-0f3a/newest       the last version
    plans-0f3a/7.views      what the tasks of a step need: its views and all they read
    plans-0f3a/7.inputs     what the planner of steps needs: its sources
    plans-0f3a/5be1c0...    a part of either, such as one view, under the digest of what it is

The driver writes a version down before a step can name it. A worker that comes to it reads the parts that are new to
it, so that a change costs what changes, and what stays is the very same object as before.

The parts are pickles of this program, as those are that Spark carries to its workers. Each file begins with a signature
by a key that the driver makes when it starts, and that travels with the pipeline: so a worker opens what its own driver
has written and nothing else. Another process that goes on with the run writes all of them anew.
"""

from __future__ import annotations

import hashlib
import hmac
import pickle
import secrets
import shutil
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skerry.errors import CheckpointError
from skerry.model.atomic_write import write_atomically
from skerry.replay.replay import Inputs

if TYPE_CHECKING:  # the process that plans steps does without: to load operators takes it half a second
    from skerry.pipeline.pipeline import Pipeline

__all__ = ["PlanFiles", "PlanWriter", "clear_plans"]

_NEWEST = "newest"
_VIEWS, _INPUTS = ".views", ".inputs"
_SIGNATURE_BYTES = 32
_FOLDER = "plans-"

_parts: dict[str, Any] = {}
"""The parts of the last version that this process has opened, by their digests."""
_pipelines: dict[tuple[Path, int], Pipeline] = {}
"""The last version that this process has opened."""


@dataclass(frozen=True)
class PlanFiles:
    """Where versions are read. Picklable: it travels to the workers."""

    path: Path
    key: bytes = field(repr=False)

    @classmethod
    def make_in(cls, folder: Path) -> PlanFiles:
        """A folder and a key of their own for the process that asks."""
        path = folder / f"{_FOLDER}{secrets.token_hex(8)}"
        path.mkdir(parents=True)
        return cls(path, secrets.token_bytes(32))

    @property
    def newest(self) -> int:
        """The last version."""
        return int(self.read(_NEWEST))

    def next_version(self, version: int) -> int:
        """The version of a step, from that of the step before."""
        return max(version, self.newest)

    def inputs(self, version: int) -> Inputs:
        """What a version reads."""
        connectors, most_lags = pickle.loads(self.read(f"{version}{_INPUTS}"))
        return Inputs([self._open(digest) for digest in connectors], most_lags)

    def pipeline(self, version: int) -> Pipeline:
        """A version, as the tasks of its steps see it."""
        if (self.path, version) not in _pipelines:
            found = self._assemble(version)
            _pipelines.clear()
            _pipelines[self.path, version] = found
        return _pipelines[self.path, version]

    def read(self, name: str) -> bytes:
        """What the driver wrote under a name; ``CheckpointError`` if somebody else did."""
        path = self.path / name
        found = path.read_bytes()
        signature, content = found[:_SIGNATURE_BYTES], found[_SIGNATURE_BYTES:]
        if not hmac.compare_digest(signature, self.sign(name, content)):
            raise CheckpointError(str(path), "was not written by the process that runs")
        return content

    def sign(self, name: str, content: bytes) -> bytes:
        """What a file begins with."""
        return hmac.digest(self.key, name.encode() + b"\n" + content, "sha256")

    def _assemble(self, version: int) -> Pipeline:
        rest, numbers, *digests = pickle.loads(self.read(f"{version}{_VIEWS}"))
        views, connectors, selections = digests
        made = replace(
            rest,
            views=tuple(map(self._open, views)),
            numbers=numbers,
            connectors=tuple(map(self._open, connectors)),
        )
        made.__dict__["selections"] = {source: self._open(digest) for source, digest in selections.items()}
        for stale in _parts.keys() - {*views, *connectors, *selections.values()}:
            del _parts[stale]
        return made.prepare()

    def _open(self, digest: str) -> Any:
        if digest not in _parts:
            _parts[digest] = pickle.loads(self.read(digest))
        return _parts[digest]


class PlanWriter:
    """Writes versions down, on the driver."""

    def __init__(self, files: PlanFiles) -> None:
        self._files = files
        self._digests: dict[int, tuple[object, str]] = {}
        """Digests of parts by the identity of these, and the parts, so that they keep it."""
        self._versions: dict[int, set[str]] = {}

    def write(self, version: int, pipeline: Pipeline) -> None:
        """Let steps see a version from now on."""
        views, connectors = self._put_all(pipeline.views), self._put_all(pipeline.connectors)
        selections = {source: self._put(found) for source, found in pipeline.selections.items()}
        numbers = tuple(pipeline.views_by_number)
        rest = replace(pipeline, views=(), numbers=(), connectors=())
        self._put_file(f"{version}{_VIEWS}", pickle.dumps((rest, numbers, views, connectors, selections)))
        self._put_file(f"{version}{_INPUTS}", pickle.dumps((connectors, dict(pipeline.most_lags))))
        self._put_file(_NEWEST, str(version).encode())
        self._versions[version] = {*views, *connectors, *selections.values()}

    def forget(self, version: int) -> None:
        """No step before this version comes again."""
        stale = [known for known in self._versions if known < version]
        gone = set().union(*(self._versions.pop(known) for known in stale)) - set().union(*self._versions.values())
        self._digests = {key: found for key, found in self._digests.items() if found[1] not in gone}
        for name in [*gone, *(f"{known}{kind}" for known in stale for kind in (_VIEWS, _INPUTS))]:
            (self._files.path / name).unlink()

    def _put_all(self, parts: Iterable[object]) -> list[str]:
        return [self._put(part) for part in parts]

    def _put(self, part: object) -> str:
        if id(part) not in self._digests:
            blob = pickle.dumps(part)
            digest = hashlib.sha256(blob).hexdigest()
            self._put_file(digest, blob)
            self._digests[id(part)] = part, digest
        return self._digests[id(part)][1]

    def _put_file(self, name: str, content: bytes) -> None:
        write_atomically(self._files.path / name, self._files.sign(name, content) + content)


def clear_plans(folder: Path) -> None:
    """Remove what some process has left."""
    for path in folder.glob(f"{_FOLDER}*"):
        shutil.rmtree(path, ignore_errors=True)
