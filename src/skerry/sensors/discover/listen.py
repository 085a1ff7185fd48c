"""Listen to a broker for a while."""

import threading
import time
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

import paho.mqtt.client as mqtt
from paho.mqtt.enums import CallbackAPIVersion
from paho.mqtt.reasoncodes import ReasonCode

from skerry.errors import SourceError
from skerry.model.time import Micros
from skerry.sensors.broker_address import BrokerAddress, make_tls_context
from skerry.sensors.discover.samples import Sample

__all__ = ["listen"]

_MOST_MESSAGES = 200_000
_MOST_BYTES = 256 << 20
_PATIENCE_SECONDS = 10.0


def listen(
    address: BrokerAddress,
    topic: str,
    seconds: float,
    stopped: Callable[[], bool] = lambda: False,
    ca_file: Path | None = None,
) -> list[Sample]:
    """All messages on a topic within some seconds, or as many as memory should hold."""
    ear = _Ear(address, topic, ca_file)
    try:
        ear.connect()
        end = time.monotonic() + seconds
        while time.monotonic() < end and not stopped() and not ear.is_full:
            time.sleep(0.05)
    finally:
        ear.close()
    return ear.heard


class _Ear:
    """One connection that hears."""

    def __init__(self, address: BrokerAddress, topic: str, ca_file: Path | None) -> None:
        self.heard: list[Sample] = []
        self._address, self._topic = address, topic
        self._bytes, self._refused = 0, ""
        self._subscribed = threading.Event()
        client = self._client = mqtt.Client(
            CallbackAPIVersion.VERSION2, client_id=f"skerry-discover-{uuid4().hex[:12]}"
        )
        if address.username:
            client.username_pw_set(address.username, address.password)
        if address.is_encrypted:
            client.tls_set_context(make_tls_context(ca_file, str(ca_file)))
        client.on_connect, client.on_message = self._on_connect, self._on_message
        client.on_subscribe = self._on_subscribe

    @property
    def is_full(self) -> bool:
        """Whether enough was heard."""
        return len(self.heard) >= _MOST_MESSAGES or self._bytes >= _MOST_BYTES

    def connect(self) -> None:
        """Return when the broker has let this in, and taken the topic."""
        try:
            self._client.connect(self._address.host, self._address.port)
        except (OSError, ValueError) as error:
            raise SourceError(f"cannot reach the broker '{self._address}': {error}; is it running?") from None
        self._client.loop_start()
        if not self._subscribed.wait(_PATIENCE_SECONDS):
            raise SourceError(f"the broker '{self._address}' does not answer")
        if self._refused:
            raise SourceError(f"the broker '{self._address}' refuses: {self._refused}")

    def close(self) -> None:
        """Leave."""
        self._client.disconnect()
        self._client.loop_stop()

    def _on_connect(self, client: mqtt.Client, data: object, flags: object, reason: object, *_: object) -> None:
        if getattr(reason, "is_failure", False):
            self._refused = str(reason)
            self._subscribed.set()
            return
        try:
            client.subscribe(self._topic, qos=0)
        except ValueError:
            self._refused = f"{self._topic!r} is no topic to listen to; write one such as i80/#"
            self._subscribed.set()

    def _on_subscribe(
        self, client: mqtt.Client, data: object, number: int, reasons: list[ReasonCode], *_: object
    ) -> None:
        if any(getattr(reason, "is_failure", False) for reason in reasons):
            self._refused = f"nobody may listen to {self._topic!r}"
        self._subscribed.set()

    def _on_message(self, client: mqtt.Client, data: object, message: mqtt.MQTTMessage) -> None:
        if not self.is_full:
            self._bytes += len(message.payload)
            arrived = Micros(time.time_ns() // 1000)
            self.heard.append(Sample(message.topic, bytes(message.payload), arrived, message.retain))
