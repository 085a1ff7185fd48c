"""Versions of the registry.

A version is made where steps are planned and stands in the position of a step, so that all who read the
step see one version, and see it again if the step is repeated. What a version is lies in a folder that
all of them can read: now and then all of it, in between what changed.

    000000000003.base   000000000007.changes   000000000009.changes
"""

import json
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from skerry.catalog import Catalog, Source, Subscription, SubscriptionChange
from skerry.errors import CheckpointError
from skerry.model.bulk_load import load_in_bulk
from skerry.model.sealed_folder import SealedFolder
from skerry.subscriptions.counters import Counters
from skerry.subscriptions.registry import Registry, answer_schema, outputs_of

__all__ = ["Registrar", "RegistryFolder", "registry_at"]

_MOST_CHANGES = 5_000
"""How many changes a step takes up: more of them would hold it up."""
_CHANGES_A_BASE = 20_000


@dataclass(frozen=True)
class RegistryFolder:
    """The folder that holds versions, and the catalogue that changes come from. Picklable."""

    path: Path
    streams: tuple[Source, ...]
    catalogue: str | None = None
    """The address of a catalogue that may change while a run goes on."""
    run: str = ""
    """Whose versions they are."""
    synced: bool = False
    """Whether a version must outlive a loss of power."""

    @property
    def files(self) -> SealedFolder:
        """The folder, as its files are read and written."""
        return SealedFolder(self.path, self.run, self.synced)

    @property
    def first(self) -> int:
        """The version that a run began with."""
        return min(self._bases())

    @property
    def outputs(self) -> dict[str, pa.Schema]:
        """Where answers go, and their columns; subscriptions may name other outputs as they come."""
        outputs = outputs_of(self.streams)
        return {outputs[stream.name]: answer_schema(stream) for stream in self.streams}

    def begin(self, subscriptions: Sequence[Subscription], version: int, *, resumed: bool = False) -> None:
        """Write a first version, unless a run that goes on has one: it must have, and all of it undamaged."""
        if resumed and not self._bases():
            raise CheckpointError(str(self.path), "is missing, or has no first version of the subscriptions")
        for path in sorted([*self.path.glob("*.base"), *self.path.glob("*.changes")]):
            self.files.read(path.name)
        if not self._bases():
            with load_in_bulk():
                registry = Registry(self.streams)
                registry.change([SubscriptionChange(version, subscription) for subscription in subscriptions])
                registry.version = version
                self.files.write(f"{version:012}.base", registry.save())

    def at(self, version: int, known: Registry | None = None) -> Registry:
        """The registry of a version: from one that is known, if it is not newer, or else from the last base."""
        registry = known if known and known.version <= version else None
        if registry is None:
            base = max((found for found in self._bases() if found <= version), default=version)
            with load_in_bulk():
                registry = Registry.restore(self.files.read(f"{base:012}.base"), self.streams)
        for change in self._read_changes(registry.version, version):
            registry.change([change])
        registry.version = version
        return registry

    def note_batch(self, run: str, batch: int, version: int) -> None:
        """Let the catalogue know from which batch on a version is seen, if it is one that others read."""
        if self.catalogue:
            catalog = Catalog(self.catalogue)
            with closing(catalog), catalog.all_or_nothing():
                catalog.subscriptions.note_batch(run, batch, version)

    def counters(self, run: str) -> Counters:
        """What keeps the counters of a run."""
        return Counters(self.path / "counts", self.catalogue, run, synced=self.synced)

    def export(self, registry: Registry, since: int, changes: Sequence[SubscriptionChange], *, whole: bool) -> None:
        """Write what a version changed since another, and now and then all of it."""
        lines = [json.dumps({"since": since}), *(json.dumps(asdict(change)) for change in changes)]
        self.files.write(f"{registry.version:012}.changes", "\n".join(lines).encode())
        if whole:
            self.files.write(f"{registry.version:012}.base", registry.save())

    def _bases(self) -> list[int]:
        return [int(path.stem) for path in self.path.glob("*.base")]

    def _read_changes(self, after: int, until: int) -> list[SubscriptionChange]:
        """What changed between two versions, found from the later one back: each names the one before it."""
        found: list[SubscriptionChange] = []
        while until > after:
            since, *changes = map(json.loads, self.files.read(f"{until:012}.changes").decode().splitlines())
            found = [_make_change(record) for record in changes] + found
            until = since["since"]
        return found


def _make_change(record: dict[str, Any]) -> SubscriptionChange:
    return SubscriptionChange(record["version"], Subscription(**record["subscription"]), record["removed"])


class Registrar:
    """Follows a catalogue, a few thousand changes a step, and writes down each version that a step is given."""

    def __init__(self, folder: RegistryFolder) -> None:
        self._folder = folder
        self._catalog = Catalog(folder.catalogue) if folder.catalogue else None
        self._registry: Registry | None = None
        self._since_base = 0

    def next_version(self, version: int) -> int:
        """The version of the next step, from that of the step before; before the first step it is 0."""
        version = max(version, self._folder.first)
        if self._catalog is None:
            return version
        changes = self._catalog.subscriptions.since(version)[:_MOST_CHANGES]
        if not changes:
            return version
        registry = self._registry = self._folder.at(version, self._registry)
        registry.change(changes)
        self._since_base += len(changes)
        whole = self._since_base > _CHANGES_A_BASE
        self._folder.export(registry, version, changes, whole=whole)
        self._since_base = 0 if whole else self._since_base
        return registry.version


_here: dict[SealedFolder, Registry] = {}
"""This process's registries, as of the last version asked for, by where their versions lie, and whose they are."""


def registry_at(folder: RegistryFolder, version: int) -> Registry:
    """A version of a registry, made from the one that this process had before."""
    found = _here[folder.files] = folder.at(version, _here.get(folder.files))
    return found
