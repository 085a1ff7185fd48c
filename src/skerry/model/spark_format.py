"""A format that Spark reads or writes, as options say it: of a source, or of a view that Spark writes."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from skerry.errors import OptionError
from skerry.model.options import Option, Owner, parse_options, text

__all__ = ["SPARK_OPTIONS", "SparkFormat", "is_for_spark", "split_list"]

_PREFIX = "spark."
SPARK_OPTIONS = (
    Option("spark_format", text(), help="A format of Spark's.", required=True, example="'kafka' or 'parquet'"),
    Option("spark_packages", text(), help="Packages that the format is in, as Maven knows them, behind commas."),
    Option("spark_jars", text(), help="Files of the same, behind commas."),
)
"""Beside these, any option ``spark.NAME`` is handed to Spark as ``NAME``."""
_PACKAGE = re.compile(r"[\w.-]+:[\w.-]+:[\w.-]+")


@dataclass(frozen=True)
class SparkFormat:
    """A format's name, what Spark is told of it, and the libraries that it is in, if Spark comes without them.

    >>> given = {"spark_format": "kafka", "spark.subscribe": "clicks", "spark_jars": "kafka.jar, clients.jar"}
    >>> found = SparkFormat.parse(given, Owner("source 'clicks'"))
    >>> found.name, found.options, found.jars
    ('kafka', {'subscribe': 'clicks'}, ('kafka.jar', 'clients.jar'))
    """

    name: str
    options: Mapping[str, str] = field(default_factory=dict)
    packages: tuple[str, ...] = ()
    jars: tuple[str, ...] = ()

    @classmethod
    def parse(cls, given: Mapping[str, str], owner: Owner) -> "SparkFormat":
        """Read the format out of options, which are all about it."""
        own = parse_options({name: given[name] for name in given if not is_for_spark(name)}, SPARK_OPTIONS, owner)
        handed_on = {name.removeprefix(_PREFIX): value for name, value in given.items() if is_for_spark(name)}
        packages = split_list(own["spark_packages"])
        for package in packages:
            if not _PACKAGE.fullmatch(package):
                example = "GROUP:NAME:VERSION, such as 'org.apache.spark:spark-sql-kafka-0-10_2.13:4.3.0'"
                raise OptionError(f"{owner.name}: {package!r} is no package; write {example}")
        return cls(own["spark_format"], handed_on, packages, split_list(own["spark_jars"]))


def is_for_spark(option: str) -> bool:
    """Whether an option is handed to Spark."""
    return option.startswith(_PREFIX)


def split_list(written: str | None) -> tuple[str, ...]:
    """The parts of a list behind commas.

    >>> split_list("a.jar, b.jar"), split_list(None)
    (('a.jar', 'b.jar'), ())
    """
    return tuple(part.strip() for part in (written or "").split(",") if part.strip())
