"""From a source's declaration to the connector that reads it."""

from pathlib import Path

from skerry.catalog import Source
from skerry.errors import OptionError
from skerry.sources.file import FileConnector
from skerry.sources.sim import TrafficConnector
from skerry.sources.source import Connector

__all__ = ["CONNECTORS", "open_connector"]

CONNECTORS = ("file", "sim", "spark")


def open_connector(source: Source, base: Path) -> Connector:
    """Open a source; relative paths start at ``base``."""
    if source.connector == "file":
        return FileConnector.open(source, base)
    if source.connector == "sim":
        return TrafficConnector.open(source)
    if source.connector == "spark":
        raise OptionError(f"source {source.name!r} is read by Spark itself; run it with --runtime spark")
    raise OptionError(f"source {source.name!r} has connector {source.connector!r}; known are {', '.join(CONNECTORS)}")
