"""A real MQTT broker on this machine, for tests, benchmarks and the demo: a process of its own, on loopback."""

import socket
import subprocess
import time
from contextlib import closing
from pathlib import Path
from types import TracebackType
from typing import Self

from skerry.errors import RunError
from skerry.model.private_folder import make_private_folder, remove_private_folder
from skerry.testing.broker_programs import BrokerWishes, find_program

__all__ = ["Broker"]

_HOST = "127.0.0.1"
_PATIENCE_SECONDS = 30.0
_TRIES = 5


class Broker:
    """A broker from entry to exit, on a port that is free.

    ``url`` is what to connect to; with ``is_encrypted`` it begins with ``mqtts`` and ``certificate`` is the authority
    that a client has to trust. With a username the broker lets nobody else in.

    ``restart`` and ``start`` after ``stop`` come back on the same port with the sessions and messages there were
    (with mosquitto; amqtt forgets them). ``kill`` gives the broker no time to save anything: what came after the last
    save is gone, unless ``save_every_s`` made it save since.

    ``with Broker() as broker: connect(broker.url)``
    """

    def __init__(
        self,
        username: str | None = None,
        password: str | None = None,
        *,
        is_encrypted: bool = False,
        save_every_s: int | None = None,
    ) -> None:
        self._program = find_program()
        self._wishes = BrokerWishes(username, password, is_encrypted, save_every_s)
        self._process: subprocess.Popen[bytes] | None = None
        self._folder = Path()
        self.port = 0

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"{'mqtts' if self._wishes.is_encrypted else 'mqtt'}://{_HOST}:{self.port}"

    @property
    def certificate(self) -> Path | None:
        """The file of the certificate, where there is TLS."""
        return self._folder / "certificate.pem" if self._wishes.is_encrypted else None

    @property
    def is_running(self) -> bool:
        """Whether its process lives."""
        return self._process is not None and self._process.poll() is None

    @property
    def log(self) -> str:
        """What it has said of itself since it was started last."""
        path = self._folder / "broker.log"
        return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""

    def __enter__(self) -> Self:
        """Start it on a port that is free."""
        self._folder = make_private_folder()
        try:
            self._start_somewhere()
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop it, and forget what it kept."""
        self._end()

    def start(self) -> None:
        """Start it again after ``stop`` or ``kill``, and wait until it listens."""
        if not self.is_running:
            self._launch()

    def stop(self) -> None:
        """Let it save what it has, and end. It does so on SIGTERM."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait(_PATIENCE_SECONDS)

    def kill(self) -> None:
        """End it at once, as a crash would."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(_PATIENCE_SECONDS)

    def restart(self) -> None:
        """Stop it and start it again: same port, same sessions."""
        self.stop()
        self.start()

    def _start_somewhere(self) -> None:
        """Try again if somebody else takes the port between our look at it and the broker's."""
        for remaining in reversed(range(_TRIES)):
            self.port = _find_free_port()
            try:
                self._launch()
            except RunError:
                if not remaining:
                    raise
            else:
                return

    def _launch(self) -> None:
        command = self._program.configure(self._folder, self.port, self._wishes)
        with (self._folder / "broker.log").open("wb") as output:
            self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while not self._is_ready():
            if not self.is_running or time.monotonic() > deadline:
                self.kill()
                raise RunError("the MQTT broker does not start:", " ".join(self.log.split())[-1000:])
            time.sleep(0.01)

    def _is_ready(self) -> bool:
        """Whether it listens: its log says so, since on its port somebody else may listen instead."""
        return self._program.says_when_ready in self.log and _is_listening(self.port)

    def _end(self) -> None:
        self.kill()
        remove_private_folder(self._folder)


def _find_free_port() -> int:
    with closing(socket.socket()) as found:
        found.bind((_HOST, 0))
        return int(found.getsockname()[1])


def _is_listening(port: int) -> bool:
    with closing(socket.socket()) as tried:
        tried.settimeout(1.0)
        return tried.connect_ex((_HOST, port)) == 0
