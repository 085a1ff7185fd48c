"""A Spark home whose Python workers import pyspark compiled.

Spark puts its home's ``python/lib/pyspark.zip`` on the path of every Python process it starts, ahead of
the installed package. Modules in a zip have no compiled form, and a first batch starts six such
processes one after the other: some four seconds of compiling. A home without the zip, otherwise made of
links to the installed one, lets them import the package itself.
"""

import hashlib
import os
from pathlib import Path

import pyspark

from skerry.model.cache_folder import find_cache_folder

__all__ = ["use_compiled_home"]

_LINKED = ("bin", "jars", "sbin")


def use_compiled_home() -> None:
    """Point ``SPARK_HOME`` to such a home, unless the user has chosen one or none can be written."""
    if "SPARK_HOME" in os.environ:
        return
    installed = Path(pyspark.__file__).parent
    home = find_cache_folder() / f"spark-{hashlib.sha256(str(installed).encode()).hexdigest()[:16]}"
    if (installed / "jars").is_dir() and _make_home(home, installed):
        os.environ["SPARK_HOME"] = str(home)


def _make_home(home: Path, installed: Path) -> bool:
    """Make the home where it is not there yet; False if the folder cannot be written."""
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        for name in _LINKED:
            if (installed / name).exists() and not (home / name).exists():
                (home / name).symlink_to(installed / name)
    except FileExistsError:  # another process was faster
        return all((home / name).exists() for name in _LINKED)
    except OSError:
        return False
    return True
