"""An archive of the classes that Spark loads, so that Java need not read and check each of them at every start.

Java writes it where it ends, and looks itself whether an archive fits its version and its jars: it goes on without one
that does not.
"""

import hashlib
import os
from pathlib import Path

import pyspark

from skerry.model.cache_folder import find_cache_folder
from skerry.spark.java import Java

__all__ = ["find_class_archive", "use_class_archive", "write_class_archive"]

_QUIET = "-Xlog:cds*=off"  # Java would name on the terminal each class that it leaves out


def find_class_archive(java: Java) -> Path:
    """Where the archive for a Java and the Spark at hand is, or would be."""
    home = Path(os.environ.get("SPARK_HOME") or Path(pyspark.__file__).parent)
    parts = [path.resolve() for path in (java.path, home / "jars") if path.exists()]
    found = "\n".join([str(home), *(f"{path} {path.stat().st_mtime_ns}" for path in parts)])
    return find_cache_folder() / f"classes-{hashlib.sha256(found.encode()).hexdigest()[:16]}.jsa"


def use_class_archive(archive: Path) -> str:
    """Java's options for using it, behind others; none if it is not there, or has a name that options cannot hold."""
    return f" -XX:SharedArchiveFile={archive} {_QUIET}" if archive.exists() and " " not in str(archive) else ""


def write_class_archive(archive: Path) -> str:
    """Java's options for leaving one there when it ends, behind others."""
    return f" -XX:ArchiveClassesAtExit={archive} {_QUIET}"
