"""All connectors by name, and the way from a source's declaration to the one that reads it."""

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar, Protocol

from skerry.catalog import Source
from skerry.errors import OptionError
from skerry.model.options import Option, suggest
from skerry.sources.file import FileConnector
from skerry.sources.folder import FolderConnector
from skerry.sources.mqtt import MqttConnector
from skerry.sources.sim import SimConnector
from skerry.sources.source import Connector
from skerry.sources.spark import SparkConnector

__all__ = ["CONNECTORS", "open_connector"]


class _ConnectorClass(Protocol):
    """What a class must offer to stand in the table: the options it takes, and a way to open a source."""

    OPTIONS: ClassVar[tuple[Option, ...]]

    @classmethod
    def open(cls, definition: Source, base: Path) -> Connector: ...


CONNECTORS: Mapping[str, type[_ConnectorClass]] = {
    "file": FileConnector,
    "folder": FolderConnector,
    "mqtt": MqttConnector,
    "sim": SimConnector,
    "spark": SparkConnector,
}


def open_connector(source: Source, base: Path) -> Connector:
    """Open a source; relative paths start at ``base``."""
    name = source.connector
    if name not in CONNECTORS:
        known = f"known are {', '.join(CONNECTORS)}{suggest(name, tuple(CONNECTORS))}"
        raise OptionError(f"source {source.name!r} has connector {name!r}; {known}")
    return CONNECTORS[name].open(source, base)
