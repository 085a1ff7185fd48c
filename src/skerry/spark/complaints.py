"""What Spark complains of, in a line.

An error reaches the driver as a text of many: the message of the query that ended, the Python traceback of a worker or
of ``deliver``, and the traces of the exceptions that led to it, the first cause last.
"""

import re
from pathlib import Path

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from skerry import errors
from skerry.errors import CheckpointError, InputError, RunError, SkerryError

__all__ = ["SPARK_ERRORS", "find_cause", "has_lost_a_worker", "translate"]

SPARK_ERRORS = (PySparkException, Py4JJavaError)
"""What pyspark raises."""

_OWN = re.compile(r"\bskerry\.errors\.(\w+): (.+)")
_CAUSE = re.compile(r"^(?:Caused by|Suppressed)?:? ?[\w.$]*(?:Error|Exception)\w*: (.+)$", re.MULTILINE)
_QUERY = re.compile(r"terminated with exception: (.+)")
_FAULTS = {
    "is damaged: its checksum does not match": r"Checksum error|Checksum file",
    "is missing": r"does not exist|FileNotFound|NoSuchFile|No such file|not found",
}
_LOST = re.compile(
    r"Python worker (exited unexpectedly|failed to connect back)|waiting for the Python worker to connect back"
    r"|java\.io\.(IO|EOF)Exception|java\.net\.|java\.nio\.channels\.|Broken pipe|Connection reset"
)
"""What is said where a Python process ends in the middle of a conversation."""


def translate(error: Exception, checkpoint: Path) -> SkerryError:
    """Find what a run broke off with.

    It is the error that it was, if it was one of ours; otherwise what is wrong with a file of the checkpoint, if one is
    named; otherwise the first cause.
    """
    text = str(error)
    for kind, message in _OWN.findall(text):
        found = getattr(errors, kind, None)
        wrong_input = isinstance(found, type) and issubclass(found, InputError)
        return InputError(message) if wrong_input else RunError(message)
    cause = find_cause(text)
    if "stopped SparkContext" in cause:
        cause = "Spark ended before its work was done: its process was told to end, or failed"
    return _find_damage(text, checkpoint) or RunError(cause)


def has_lost_a_worker(error: Exception) -> bool:
    """Whether it was not the work that failed, but the process that did it."""
    text = str(error)
    return bool(_LOST.search(text)) and not _OWN.search(text) and "PythonException" not in text


def _find_damage(text: str, checkpoint: Path) -> CheckpointError | None:
    """The first line that says what is wrong with a file of the checkpoint."""
    folder = re.escape(str(checkpoint.absolute()))
    for line in text.splitlines():
        path = re.search(rf"{folder}/[^\s'\",;:)\]]+", line)
        fault = next((fault for fault, words in _FAULTS.items() if re.search(words, line)), None)
        if path and fault:
            return CheckpointError(path[0], fault)
    return None


def find_cause(text: str) -> str:
    """The message of the exception that led to all others, in a line."""
    causes = _CAUSE.findall(text)
    query = _QUERY.search(text)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    found = causes[-1] if causes else query[1] if query else lines[0] if lines else "Spark gave no reason"
    return re.sub(r" SQLSTATE: \w+$", "", found.strip())
