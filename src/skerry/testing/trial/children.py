"""The processes of a trial: real commands, each with a log, that are killed as a crash would kill them."""

import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from skerry.errors import RunError

__all__ = ["Child"]

_COMMAND = [sys.executable, "-c", "from skerry.cli import main; main()"]
_PATIENCE_S = 120.0


class Child:
    """A command of Skerry's in a process of its own. What it says goes to a file, after what it said before."""

    def __init__(self, arguments: Sequence[str], log: Path) -> None:
        self._arguments, self._log = list(arguments), log
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def is_running(self) -> bool:
        """Whether it has been started and has not ended."""
        return self._process is not None and self._process.poll() is None

    @property
    def said(self) -> str:
        """All that it has said."""
        return self._log.read_text(encoding="utf-8", errors="replace") if self._log.exists() else ""

    def start(self) -> None:
        """Start it, or start it again."""
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [*_COMMAND, *self._arguments], stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )

    def check(self) -> None:
        """Raise what it said last, if it has ended and should not have."""
        if not self.is_running:
            raise RunError(f"skerry {self._arguments[0]} has ended by itself:", self.said[-2000:].strip())

    def kill(self) -> None:
        """End it at once, if it runs."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(_PATIENCE_S)

    def stop(self) -> None:
        """Ask it to end, as Ctrl-C does, and wait until it has."""
        if self._process is not None:
            self._process.send_signal(signal.SIGINT)
        self.wait()

    def wait(self, patience_s: float = _PATIENCE_S) -> None:
        """Wait until it has ended, and raise what it said if it did not end well."""
        if self._process is None:
            return
        try:
            code = self._process.wait(patience_s)
        except subprocess.TimeoutExpired:
            raise RunError(f"skerry {self._arguments[0]} does not end:", self.said[-2000:].strip()) from None
        if code:
            raise RunError(f"skerry {self._arguments[0]} ended with {code}:", self.said[-2000:].strip())
