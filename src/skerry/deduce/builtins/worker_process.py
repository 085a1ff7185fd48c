"""Starts the process that runs a project's own built-ins, sends it calls and reads the results."""

import json
import os
import subprocess
import sys
import threading
import weakref
from collections.abc import Collection, Sequence
from contextlib import suppress
from pathlib import Path

from skerry.deduce.json_values import from_json, to_json
from skerry.deduce.values import Row
from skerry.model.term import Value

__all__ = ["WorkerProcess"]


class WorkerProcess:
    """A separate process: started by the first call, and again by the first call after it was killed."""

    def __init__(self, modules: Collection[str], folder: Path | None, seconds: float) -> None:
        self._modules, self._folder, self._seconds = tuple(modules), folder, seconds
        self._process: subprocess.Popen[str] | None = None

    def run(self, path: str, rows: Sequence[Row]) -> Sequence[Value | None]:
        """Call a function once per row. Raises ValueError if a call fails, TimeoutError if they take too long."""
        answer = self._ask(json.dumps([path, [to_json(row) for row in rows]]))
        if "error" in answer:
            raise ValueError(answer["error"])
        return [None if value is None else from_json(value) for value in answer["values"]]

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            _end(self._process)
            self._process = None

    def _ask(self, question: str) -> dict[str, list[object]]:
        process = self._process or self._start()
        late = threading.Event()
        watch = threading.Timer(self._seconds, _kill, (process, late))
        watch.start()
        try:
            line = _exchange(process, question)
        finally:
            watch.cancel()
        if line.endswith("\n"):
            return json.loads(line)
        self.close()
        if late.is_set():
            raise TimeoutError(f"more than {self._seconds:g} seconds for a batch")
        raise ValueError("its process ended")

    def _start(self) -> subprocess.Popen[str]:
        """Start it with what this process can import, and the project's folder before that."""
        folders = [str(self._folder.resolve())] if self._folder else []
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([*folders, *filter(None, sys.path)])}
        command = [sys.executable, "-m", "skerry.deduce.builtins.worker", *self._modules]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, encoding="utf-8", env=environment)
        weakref.finalize(self, _end, self._process)
        return self._process


def _exchange(process: subprocess.Popen[str], question: str) -> str:
    """Write a line and read one; an empty one if the process is gone."""
    if process.stdin is None or process.stdout is None:
        return ""
    try:
        print(question, file=process.stdin, flush=True)
        return process.stdout.readline()
    except BrokenPipeError:
        return ""


def _kill(process: subprocess.Popen[str], late: threading.Event) -> None:
    late.set()
    process.kill()


def _end(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with suppress(BrokenPipeError):
                pipe.close()
