"""The simulated source: ``connector='sim', kind='traffic'``."""

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from skerry.catalog import Source
from skerry.model.options import Option, parse_option
from skerry.sources.sim.kind import KIND, SIM
from skerry.sources.sim.traffic import TrafficConnector
from skerry.sources.source import Connector

__all__ = ["KINDS", "SimConnector"]

KINDS: Mapping[str, type[TrafficConnector]] = {"traffic": TrafficConnector}
"""What can be simulated, and by which connector."""


class SimConnector:
    """Stands in the table of connectors for the simulators; the option ``kind`` says which one is meant."""

    OPTIONS: ClassVar[tuple[Option, ...]] = (KIND,)
    """What all kinds have; each declares the others."""
    DECLARES_SENSORS: ClassVar[bool] = True
    """The sensors follow from the declaration: nothing has to be read to know them."""

    @classmethod
    def check(cls, definition: Source) -> None:
        """Check the options and the columns."""
        cls.open(definition, Path())

    @classmethod
    def open(cls, definition: Source, base: Path) -> Connector:
        """Open a source by the connector of its kind."""
        kind = parse_option(definition.options.get(KIND.name), KIND, SIM)
        return KINDS[kind].open(definition, base)
