"""What Spark is told on a master that runs on this machine alone: to keep to it, and to try again.

Spark is made for clusters: it listens on the host's address, lets whoever asks in, and keeps what it shuffles, its
sockets and its libraries in the common temporary folder, where a process that is killed leaves them. And on a local
master it gives a run up with the first task that fails, be it that the system had to kill a worker.
"""

import os
import re
import secrets
from pathlib import Path

from skerry.model.private_folder import make_private_folder

__all__ = ["allow_retries", "protect"]

_ATTEMPTS = 4
"""How often a task is tried: as often as on a cluster."""
_LOOPBACK = "127.0.0.1"
_LONGEST_SOCKET_PATH = 103
"""Of the systems that have such sockets, the least that one allows."""
_SOCKET_NAME = "/.01234567-89ab-cdef-0123-456789abcdef.sock"


def allow_retries(master: str) -> str:
    """The same master, with as many attempts at a task as on a cluster.

    >>> [allow_retries(master) for master in ("local", "local[2]", "local[*]", "local[2,1]", "spark://host:7077")]
    ['local[1,4]', 'local[2,4]', 'local[*,4]', 'local[2,1]', 'spark://host:7077']
    """
    if master == "local":
        return f"local[1,{_ATTEMPTS}]"
    return re.sub(r"local\[\s*(\d+|\*)\s*\]", rf"local[\1,{_ATTEMPTS}]", master)


def protect(master: str, java_options: str) -> dict[str, str]:
    """Settings that keep a local Spark to itself: on the loopback address, with a secret, in a private folder."""
    if master.partition("[")[0] not in ("local", "local-cluster"):
        return {}
    folder = make_private_folder()
    in_folder = f"{java_options} '-Djava.io.tmpdir={folder}'"
    os.environ.setdefault("SPARK_LOCAL_IP", _LOOPBACK)
    settings = {
        "spark.driver.host": _LOOPBACK,
        "spark.driver.bindAddress": _LOOPBACK,
        "spark.authenticate": "true",
        "spark.local.dir": str(folder),
        "spark.driver.extraJavaOptions": in_folder,
        "spark.executor.extraJavaOptions": in_folder,
        "spark.python.unix.domain.socket.dir": str(folder),
    }
    if len(str(folder).encode()) + len(_SOCKET_NAME) > _LONGEST_SOCKET_PATH:
        settings["spark.python.unix.domain.socket.enabled"] = "false"
    if master.startswith("local-cluster"):
        _hand_over_secret(folder / "secret.conf")
    return settings


def _hand_over_secret(path: Path) -> None:
    """Give Spark the secret that it wants for executors of their own: in a file, since everybody sees commands."""
    path.touch(mode=0o600)
    path.write_text(f"spark.authenticate.secret {secrets.token_hex(32)}\n")
    arguments = os.environ.get("PYSPARK_SUBMIT_ARGS", "pyspark-shell")
    os.environ["PYSPARK_SUBMIT_ARGS"] = f"--properties-file '{path}' --load-spark-defaults {arguments}"
