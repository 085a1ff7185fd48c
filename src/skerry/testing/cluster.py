"""A Spark cluster on this machine: a standalone master and workers, each a process of its own.

Spark's ``local[n]`` runs everything in one process; here executors share nothing with the driver but the disk, and can
be killed one by one. All listens on loopback, on ports that are free.
"""

import os
import re
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Self

from skerry.errors import RunError

__all__ = ["Cluster"]

_HOST = "127.0.0.1"
_BRIEF = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""For the master and the workers, not for executors: they live for a minute, and do next to nothing."""
_PATIENCE_SECONDS = 300.0
_STARTED = re.compile(r"Starting Spark master at (spark://\S+)")
_REGISTERED = "Successfully registered with master"


class Cluster:
    """A master and some workers, from entry to exit. ``url`` is what to give as ``--master``.

    ``with Cluster(workers=2, cores=1) as cluster: ...``
    """

    def __init__(self, workers: int = 2, cores: int = 1, memory_mb: int = 1024) -> None:
        self._worker_count, self._cores, self._memory_mb = workers, cores, memory_mb
        self._folder = tempfile.TemporaryDirectory(prefix="skerry-cluster-", ignore_cleanup_errors=True)
        self._processes: list[subprocess.Popen[bytes]] = []
        self.url = ""

    def __enter__(self) -> Self:
        """Start all processes, and wait until the workers are known to the master."""
        try:
            self._start("master", "org.apache.spark.deploy.master.Master")
            self.url = self._wait_for("master", lambda log: _STARTED.search(log))[1]
            for number in range(self._worker_count):
                size = ["--cores", str(self._cores), "--memory", f"{self._memory_mb}m"]
                work = ["--work-dir", str(self._path(f"work-{number}"))]
                self._start(f"worker-{number}", "org.apache.spark.deploy.worker.Worker", *size, *work, self.url)
            for number in range(self._worker_count):
                self._wait_for(f"worker-{number}", lambda log: re.search(_REGISTERED, log))
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop all processes."""
        self._stop()

    def executors(self, worker: int) -> list[int]:
        """The processes that a worker runs at the moment."""
        return _children(self._processes[1 + worker].pid)

    def kill_worker(self, worker: int) -> None:
        """Kill a worker, and what it runs."""
        process = self._processes[1 + worker]
        running = _children(process.pid)
        process.kill()
        process.wait()
        _kill(running)

    def kill_executor(self, worker: int) -> None:
        """Kill what a worker runs; it starts another."""
        _kill(self.executors(worker))

    def _stop(self) -> None:
        for process in reversed(self._processes):
            running = _children(process.pid)
            process.kill()
            process.wait()
            _kill(running)
        self._folder.cleanup()

    def _path(self, name: str) -> Path:
        return Path(self._folder.name) / name

    def _start(self, name: str, class_: str, *options: str) -> None:
        installed = find_spec("pyspark")
        assert installed is not None
        assert installed.origin is not None
        home = Path(installed.origin).parent
        where = ["--host", _HOST, "--port", "0", "--webui-port", "0"]
        # No settings of a Spark that the user has: not its folder, not its configuration.
        kept = {name: value for name, value in os.environ.items() if not name.startswith("SPARK_")}
        with self._path(f"{name}.log").open("wb") as log:
            self._processes.append(
                subprocess.Popen(
                    [str(home / "bin" / "spark-class"), class_, *where, *options],
                    env={**kept, "SPARK_HOME": str(home), "SPARK_LOCAL_IP": _HOST, "SPARK_DAEMON_JAVA_OPTS": _BRIEF},
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                )
            )

    def _wait_for(self, name: str, find: Callable[[str], re.Match[str] | None]) -> re.Match[str]:
        """Wait until a process has said something."""
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while (found := find(log := self._path(f"{name}.log").read_text(errors="replace"))) is None:
            if time.monotonic() >= deadline or any(process.poll() is not None for process in self._processes):
                raise RunError(f"the {name} of a Spark cluster does not start:", log[-1000:])
            time.sleep(0.1)
        return found


def _children(process: int) -> list[int]:
    """The processes that a process has started, and those that they have."""
    own: list[int] = []
    for thread in Path(f"/proc/{process}/task").glob("*/children"):
        with suppress(OSError):
            own += [int(child) for child in thread.read_text().split()]
    return [*own, *(grandchild for child in own for grandchild in _children(child))]


def _kill(processes: list[int]) -> None:
    for process in processes:
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
