"""The Java that Spark runs on. Imports no pyspark, so that it can look before Spark starts.

Spark starts ``$JAVA_HOME/bin/java`` where ``JAVA_HOME`` is set, whatever else there is, and the
``java`` on the ``PATH`` otherwise; so does this module.
"""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from skerry.errors import SetupError

__all__ = ["OLDEST_JAVA", "Java", "find_java", "major_version"]

OLDEST_JAVA = 17
"""The oldest major version that Spark runs on."""

PATIENCE_SECONDS = 30


@dataclass(frozen=True)
class Java:
    """A Java that Spark can run on: where its executable is, and its major version."""

    path: Path
    major: int


def find_java() -> Java:
    """Find the Java that Spark will start, or raise ``SetupError`` ending in the command that mends it."""
    home = os.environ.get("JAVA_HOME")
    if home:
        return _fit(Path(home) / "bin" / "java", "unset JAVA_HOME")
    on_path = shutil.which("java")
    if on_path is None:
        raise SetupError(f"Spark needs Java {OLDEST_JAVA} or later, and there is none:", _installation())
    return _fit(Path(on_path), _installation())


def major_version(answer: str) -> int | None:
    """Read the major version out of what ``java -version`` tells; None if it tells none.

    >>> major_version('openjdk version "17.0.15" 2025-04-15')
    17
    >>> major_version('java version "1.8.0_392"')
    8
    """
    version = re.search(r'version "(?:1\.)?(\d+)', answer)
    return int(version[1]) if version else None


def _fit(path: Path, mend: str) -> Java:
    """Look at one executable; ``mend`` is what to do if it does not serve."""
    major = major_version(_ask_version(path))
    if major is None:
        raise SetupError(f"Spark needs Java {OLDEST_JAVA} or later, and {path} does not run:", mend)
    if major < OLDEST_JAVA:
        raise SetupError(f"Spark needs Java {OLDEST_JAVA} or later, and {path} is Java {major}:", mend)
    return Java(path, major)


def _ask_version(path: Path) -> str:
    """Run ``java -version``; one that cannot be run tells nothing."""
    try:
        run = subprocess.run([path, "-version"], capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return run.stderr + run.stdout


def _installation() -> str:
    """Name the command that installs Java on this system."""
    if sys.platform == "darwin":
        return f'brew install openjdk@{OLDEST_JAVA} && export JAVA_HOME="$(brew --prefix openjdk@{OLDEST_JAVA})"'
    if shutil.which("apt-get"):
        return f"{'' if os.geteuid() == 0 else 'sudo '}apt-get install openjdk-{OLDEST_JAVA}-jre-headless"
    return "install it from your system's packages, and set JAVA_HOME to where it is"
