"""Libraries that Spark is started with: packages that it fetches, and files.

What is wrong with them is said before Spark starts, as far as it can be known then.
"""

import re
import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import SparkSession

from skerry.errors import OptionError, RunError, SetupError
from skerry.model.spark_format import SparkFormat

__all__ = ["NO_LIBRARIES", "Libraries", "explain_missing_format"]

_PACKAGES, _JARS = "spark.jars.packages", "spark.jars"
_NOT_FETCHED = re.compile(r"unresolved dependency: ([^\s#]+)#([^\s;]+);([^\s:]+):")
_KNOWN_PACKAGES = {
    "avro": "org.apache.spark:spark-avro_2.13:{version}",
    "delta": "io.delta:delta-spark_2.13:VERSION",
    "iceberg": "org.apache.iceberg:iceberg-spark-runtime-4.0_2.13:VERSION",
    "kafka": "org.apache.spark:spark-sql-kafka-0-10_2.13:{version}",
}


@dataclass(frozen=True)
class Libraries:
    """Packages by their Maven names, and paths of jars."""

    packages: tuple[str, ...] = ()
    jars: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, formats: Sequence[SparkFormat], packages: Iterable[str], jars: Iterable[str], base: Path
    ) -> "Libraries":
        """All that formats need, and what a run names beside them; relative paths start at ``base``."""
        named = dict.fromkeys([*packages, *(each for format_ in formats for each in format_.packages)])
        files = dict.fromkeys([*jars, *(each for format_ in formats for each in format_.jars)])
        return cls(tuple(named), tuple(str((base / file).absolute()) for file in files))

    def as_settings(self) -> dict[str, str]:
        """What Spark is told of them; what is no jar is refused."""
        for jar in self.jars:
            if not Path(jar).is_file():
                raise OptionError(f"there is no jar {jar!r}")
            if not zipfile.is_zipfile(jar):
                raise OptionError(f"{jar!r} is no jar: it is not a zip archive")
        found = {_PACKAGES: ",".join(self.packages), _JARS: ",".join(self.jars)}
        return {name: value for name, value in found.items() if value}

    def check(self, spark: SparkSession) -> None:
        """Refuse a Spark that was started earlier, without them."""
        conf = spark.sparkContext.getConf()
        for name, wanted in ((_PACKAGES, self.packages), (_JARS, self.jars)):
            has = (conf.get(name) or "").split(",")
            missing = [each for each in wanted if each not in has]
            if missing:
                message = f"this process runs Spark already, without {missing[0]}"
                raise RunError(f"{message}; name it in the first run of the process, or use another process")

    def explain(self, said: str) -> SetupError | None:
        """Why Spark did not start, by what it said, if it could not fetch a package."""
        found = _NOT_FETCHED.search(said)
        if not self.packages or found is None:
            return None
        message = f"Spark cannot fetch the package {':'.join(found.groups())}: no repository that it reaches has it;"
        return SetupError(message, "fetch the jar by other means, and name it with spark_jars='FILE.jar'")


NO_LIBRARIES = Libraries()


def explain_missing_format(name: str, version: str) -> str:
    """What to do where Spark does not know a format.

    >>> explain_missing_format("fax", "4.3.0")
    "name the package it is in: spark_packages='GROUP:NAME:VERSION', or its jar: spark_jars='FILE.jar'"
    """
    package = _KNOWN_PACKAGES.get(name.lower(), "GROUP:NAME:VERSION").format(version=version)
    return f"name the package it is in: spark_packages='{package}', or its jar: spark_jars='FILE.jar'"
