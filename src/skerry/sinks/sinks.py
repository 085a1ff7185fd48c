"""All sinks by name."""

from collections.abc import Mapping
from typing import ClassVar, Protocol

from skerry.errors import OptionError
from skerry.model.options import Option, suggest
from skerry.sinks.files import FileSink
from skerry.sinks.memory import MemorySink
from skerry.sinks.sink import Sink

__all__ = ["SINKS", "make_sink"]


class _SinkClass(Protocol):
    """What a class must offer to stand in the table: the options it takes, and a way to make a sink from them."""

    OPTIONS: ClassVar[tuple[Option, ...]]

    @classmethod
    def configure(cls, options: Mapping[str, str]) -> Sink: ...


SINKS: Mapping[str, type[_SinkClass]] = {"files": FileSink, "memory": MemorySink}


def make_sink(name: str, options: Mapping[str, str]) -> Sink:
    """Make the sink of this name.

    >>> make_sink("files", {"folder": "out", "format": "xml"})
    Traceback (most recent call last):
    ...
    skerry.errors.OptionError: unknown format 'xml'; known are parquet, csv, jsonl
    """
    if name not in SINKS:
        raise OptionError(f"unknown sink {name!r}; known are {', '.join(SINKS)}{suggest(name, tuple(SINKS))}")
    return SINKS[name].configure(options)
