"""The connector ``spark``: sources that Spark reads itself.

Only the options are here. The Spark runtime reads such a source (``spark.foreign``), no other runtime can.
"""

from pathlib import Path
from typing import ClassVar, NoReturn

from skerry.catalog import Source
from skerry.errors import OptionError
from skerry.model.options import Option, Owner
from skerry.model.spark_format import SPARK_OPTIONS, SparkFormat

__all__ = ["SparkConnector", "is_live"]

_FILES = ("csv", "json", "orc", "parquet", "text", "avro")


def is_live(source: Source) -> bool:
    """Whether more may come: formats that read files are read as far as they are there."""
    return source.options.get("spark_format", "").lower() not in _FILES


class SparkConnector:
    """Stands in the table of connectors for what only the Spark runtime can read."""

    OPTIONS: ClassVar[tuple[Option, ...]] = SPARK_OPTIONS

    @classmethod
    def check(cls, definition: Source) -> None:
        """Check the options that are ours; the others are Spark's."""
        cls.parse(definition)

    @classmethod
    def open(cls, definition: Source, base: Path) -> NoReturn:
        """Refuse: there is nothing that this process could read."""
        raise OptionError(f"source {definition.name!r} is read by Spark itself; run it with --runtime spark")

    @classmethod
    def parse(cls, definition: Source) -> SparkFormat:
        """Read the format of a source."""
        return SparkFormat.parse(definition.options, _owner(definition))


def _owner(definition: Source) -> Owner:
    known = ", ".join(option.name for option in SPARK_OPTIONS)
    return Owner(
        f"source {definition.name!r}",
        unknown="{owner} has no option {option!r}; known are " + known + " and spark.NAME",
        missing="{owner} needs {option}, such as {example}",
    )
