"""The connector ``spark``: sources that Spark reads itself.

Only the options are here. The Spark runtime reads such a source (``spark.foreign``), no other runtime can.
"""

from pathlib import Path
from typing import ClassVar, NoReturn

from skerry.catalog import Source
from skerry.errors import OptionError
from skerry.model.options import Option, Owner, parse_options, text

__all__ = ["SparkConnector"]

_PREFIX = "spark."


class SparkConnector:
    """Stands in the table of connectors for what only the Spark runtime can read."""

    OPTIONS: ClassVar[tuple[Option, ...]] = (
        Option("spark_format", text(), help="A format of Spark's.", required=True, example="'kafka' or 'parquet'"),
    )
    """Beside these, any option ``spark.NAME`` is handed to Spark as ``NAME``."""

    @classmethod
    def open(cls, definition: Source, base: Path) -> NoReturn:
        """Refuse: there is nothing that this process could read."""
        raise OptionError(f"source {definition.name!r} is read by Spark itself; run it with --runtime spark")

    @classmethod
    def parse(cls, definition: Source) -> tuple[str, dict[str, str]]:
        """Read the format of a source, and the options that are handed to Spark."""
        given = definition.options.items()
        own = {name: value for name, value in given if not name.startswith(_PREFIX)}
        handed_on = {name.removeprefix(_PREFIX): value for name, value in given if name.startswith(_PREFIX)}
        return parse_options(own, cls.OPTIONS, _owner(definition))["spark_format"], handed_on


def _owner(definition: Source) -> Owner:
    return Owner(
        f"source {definition.name!r}",
        unknown="{owner} has no option {option!r}; known are spark_format and spark.NAME",
        missing="{owner} needs {option}, such as {example}",
    )
