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

__all__ = ["CONNECTORS", "check_options", "open_connector"]


class _ConnectorClass(Protocol):
    """What a class must offer to stand in the table: the options it takes, and ways to check and to open a source."""

    OPTIONS: ClassVar[tuple[Option, ...]]

    @classmethod
    def check(cls, definition: Source) -> None: ...

    @classmethod
    def open(cls, definition: Source, base: Path) -> Connector: ...


CONNECTORS: Mapping[str, type[_ConnectorClass]] = {
    "file": FileConnector,
    "folder": FolderConnector,
    "mqtt": MqttConnector,
    "sim": SimConnector,
    "spark": SparkConnector,
}


def check_options(source: Source) -> None:
    """Refuse the options that a run would refuse. Whether there is something to read is not looked at."""
    _find_class(source).check(source)


def open_connector(source: Source, base: Path) -> Connector:
    """Open a source; relative paths start at ``base``."""
    return _find_class(source).open(source, base)


def _find_class(source: Source) -> type[_ConnectorClass]:
    name = source.connector
    if name not in CONNECTORS:
        known = f"known are {', '.join(CONNECTORS)}{suggest(name, tuple(CONNECTORS))}"
        raise OptionError(f"source {source.name!r} has connector {name!r}; {known}")
    return CONNECTORS[name]
