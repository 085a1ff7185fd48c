"""Looking the machine over: what Skerry needs, whether it is there, and what mends it if not.

Nothing is printed and nothing is changed here; ``skerry doctor`` shows the findings.
"""

import socket
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from shutil import disk_usage

from skerry.errors import SetupError
from skerry.model.cache_folder import find_cache_folder, name_cache_folder
from skerry.spark.java import find_java

__all__ = ["Finding", "examine"]

OLDEST_PYTHON = (3, 11)
SPARK_RELEASE = "4.3"
GIB = 2**30
LEAST_DISK_BYTES = GIB
LEAST_MEMORY_BYTES = GIB


@dataclass(frozen=True)
class Finding:
    """What one look found: at what, whether it is good, what was seen, and what mends it if it is not."""

    name: str
    good: bool
    seen: str
    mend: str | None = None


def examine(project: Path) -> list[Finding]:
    """Look at everything a pipeline of this project needs, in the order in which to mend it."""
    return [
        _python(),
        _java(),
        _spark(),
        _port(),
        _disk("temporary disk space", Path(tempfile.gettempdir()), "set TMPDIR to a directory with more"),
        _disk("project disk space", project, "keep the project elsewhere, with --project"),
        _memory(),
        _cache(),
    ]


def _python() -> Finding:
    wanted = ".".join(map(str, OLDEST_PYTHON))
    seen = f"{sys.version.split()[0]} at {sys.executable}"
    if sys.version_info >= OLDEST_PYTHON:
        return Finding("Python", True, seen)
    return Finding("Python", False, f"{seen}, older than {wanted}", f"make PYTHON=python{wanted} setup")


def _java() -> Finding:
    try:
        java = find_java()
    except SetupError as error:
        seen, mend = error.args
        return Finding("Java", False, seen.removesuffix(":"), mend)
    return Finding("Java", True, f"{java.major} at {java.path}")


def _spark() -> Finding:
    mend = f"{sys.executable} -m pip install 'pyspark=={SPARK_RELEASE}.*'"
    try:
        import pyspark
    except ImportError as error:
        return Finding("Spark", False, f"pyspark cannot be imported: {error}", mend)
    if not pyspark.__version__.startswith(f"{SPARK_RELEASE}."):
        return Finding("Spark", False, f"{pyspark.__version__}, not {SPARK_RELEASE}", mend)
    return Finding("Spark", True, pyspark.__version__)


def _port() -> Finding:
    """See whether a process of ours may listen on localhost, as the driver and its workers must."""
    try:
        with socket.socket() as listener:
            listener.bind(("localhost", 0))
            return Finding("port", True, f"localhost:{listener.getsockname()[1]} was free")
    except OSError as error:
        seen = f"no port on localhost can be bound: {error}"
        return Finding("port", False, seen, "echo '127.0.0.1 localhost' | sudo tee -a /etc/hosts")


def _disk(name: str, directory: Path, mend: str) -> Finding:
    free = disk_usage(_existing(directory)).free
    seen = f"{free / GIB:.1f} GiB free in {directory}"
    return Finding(name, True, seen) if free >= LEAST_DISK_BYTES else Finding(name, False, seen, mend)


def _memory() -> Finding:
    free = _free_memory_bytes()
    if free is None:
        return Finding("memory", True, "this system does not tell how much is free")
    seen = f"{free / GIB:.1f} GiB free"
    if free >= LEAST_MEMORY_BYTES:
        return Finding("memory", True, seen)
    return Finding("memory", False, seen, "stop what you do not need; Spark alone takes 1 GiB")


def _free_memory_bytes() -> int | None:
    """Ask Linux what it could hand out without swapping; other systems do not say."""
    meminfo = Path("/proc/meminfo")
    if not meminfo.exists():
        return None
    fields = dict(line.split(":", 1) for line in meminfo.read_text().splitlines())
    return int(fields["MemAvailable"].split()[0]) * 1024


def _cache() -> Finding:
    """See whether compiled kernels are kept where they last."""
    wanted, found = name_cache_folder(), find_cache_folder()
    if found == wanted:
        return Finding("cache", True, str(found))
    seen = f"{wanted or 'a folder in the home of this user'} cannot be written; kernels are kept in {found}"
    return Finding("cache", True, f"{seen} until the next clean-up; XDG_CACHE_HOME=FOLDER keeps them elsewhere")


def _existing(directory: Path) -> Path:
    """Return the directory, or the nearest above it that is there already."""
    return next(path for path in (directory.absolute(), *directory.absolute().parents) if path.exists())
