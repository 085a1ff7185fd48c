"""A sensor that a trial sends readings by itself with, to know how far a pipeline has come.

A broker hands messages to a session in the order in which it took them. So once a reading of the beacon is answered,
all that was acknowledged before it has been read as well.
"""

import json
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self

import pyarrow.parquet as pq
from paho.mqtt.client import Client, MQTTMessage
from paho.mqtt.enums import CallbackAPIVersion

from skerry.errors import RunError
from skerry.sensors.broker_address import BrokerAddress

__all__ = ["Beacon"]

_PAUSE_S, _AGAIN_S = 0.1, 1.0


class Beacon:
    """Publishes readings to sources, and looks for them in the answers of the views ``beacon_SOURCE``.

    ``check`` is called while it waits, and raises if there is no use in waiting.
    """

    def __init__(self, url: str, sources: tuple[str, ...], answers: Path, check: Callable[[], None]) -> None:
        self._address, self._sources, self._answers, self._check = BrokerAddress.parse(url), sources, answers, check
        self._client = Client(CallbackAPIVersion.VERSION2)
        self._client.reconnect_delay_set(1, 1)
        self._client.on_connect = lambda *_: self._listen()
        self._client.on_message = self._hear
        self._said: set[str] = set()
        self._sequence = 0
        self._seen: dict[Path, int] = {}

    def __enter__(self) -> Self:
        """Connect."""
        self._client.connect(self._address.host, self._address.port)
        self._client.loop_start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave."""
        self._client.disconnect()
        self._client.loop_stop()

    def wait_for_first(self, patience_s: float) -> None:
        """Send again and again until all sources are answered: nobody keeps what came before they listened."""
        self._wait({source: self._sequence for source in self._sources}, patience_s, is_repeated=True)

    def wait_for_all(self, patience_s: float, ahead_s: float = 0.0) -> None:
        """Send a reading to each source, with a time so far ahead, and wait until all of them are answered."""
        self._send(ahead_s)
        self._wait(dict.fromkeys(self._sources, self._sequence - 1), patience_s)

    def wait_for_sensors(self, count: int, patience_s: float) -> None:
        """Wait until so many sensors have said their state."""
        deadline_s = time.monotonic() + patience_s
        while len(self._said) < count:
            self._check()
            if time.monotonic() > deadline_s:
                raise RunError(f"of {count} sensors {len(self._said)} have been heard within {patience_s:g} s")
            time.sleep(_PAUSE_S)

    def _listen(self) -> None:
        self._client.subscribe([(f"{name}/+/state", 1) for name in self._sources])

    def _hear(self, client: Client, data: object, message: MQTTMessage) -> None:
        self._said.add(message.topic)

    def _wait(self, wanted: Mapping[str, int], patience_s: float, *, is_repeated: bool = False) -> None:
        deadline_s, again_s = time.monotonic() + patience_s, 0.0
        while not all(self._find_newest(source) >= sequence for source, sequence in wanted.items()):
            self._check()
            if time.monotonic() > deadline_s:
                raise RunError(f"a reading has not been answered within {patience_s:g} s")
            if is_repeated and time.monotonic() >= again_s:
                self._send(0.0)
                again_s = time.monotonic() + _AGAIN_S
            time.sleep(_PAUSE_S)

    def _send(self, ahead_s: float) -> None:
        ts = datetime.fromtimestamp(time.time() + ahead_s, UTC).replace(tzinfo=None).isoformat(" ")
        body = json.dumps({"ts": ts, "seq": self._sequence})
        self._sequence += 1
        for source in self._sources:
            self._client.publish(f"{source}/beacon/data", body, qos=1)

    def _find_newest(self, source: str) -> int:
        """The highest number that is answered."""
        parts = [path for path in (self._answers / f"beacon_{source}").glob("*.parquet") if path not in self._seen]
        for path in parts:
            self._seen[path] = max(pq.read_table(path, columns=["seq"])["seq"].to_pylist(), default=-1)
        return max((seq for path, seq in self._seen.items() if path.parent.name == f"beacon_{source}"), default=-1)
