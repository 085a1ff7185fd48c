"""What the steps of a run are planned by, and nothing else of its pipeline: it takes no operators to load it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from skerry.model.time import Micros
from skerry.replay.replay import Replay
from skerry.sources.source import Connector

if TYPE_CHECKING:  # loads the query index: only where there are subscriptions
    from skerry.subscriptions.versions import RegistryFolder

__all__ = ["StepPlan"]


@dataclass(frozen=True)
class StepPlan:
    """The connectors of a pipeline, and how its steps are made. Immutable, picklable."""

    connectors: tuple[Connector, ...]
    step_rows: int
    most_lags: Mapping[str, Micros]
    """The views that give readings up when they lag, and by how much they may."""
    registry: RegistryFolder | None
    has_foreign: bool
    """Whether the runtime itself reads some source."""

    @property
    def live(self) -> bool:
        """Whether some source has no end."""
        return any(connector.live for connector in self.connectors)

    def begin(self) -> Replay:
        """What plans the steps."""
        if self.registry is None:
            return Replay(self.connectors, self.step_rows, self.most_lags, int)
        from skerry.subscriptions.versions import Registrar

        return Replay(self.connectors, self.step_rows, self.most_lags, Registrar(self.registry).next_version)
