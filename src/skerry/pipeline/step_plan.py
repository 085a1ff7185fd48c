"""What the steps of a run are planned by, and nothing else of its pipeline: it takes no operators to load it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from skerry.model.time import Micros
from skerry.replay.replay import Replay, ViewSteps
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
    views: ViewSteps | None = None
    """What says which views a step sees, if they come and go."""

    @property
    def live(self) -> bool:
        """Whether some source has no end."""
        return any(connector.live for connector in self.connectors)

    def begin(self) -> Replay:
        """What plans the steps."""
        next_version: Callable[[int], int] = int
        if self.registry is not None:
            from skerry.subscriptions.versions import Registrar

            next_version = Registrar(self.registry).next_version
        return Replay(self.connectors, self.step_rows, self.most_lags, next_version, views=self.views)
