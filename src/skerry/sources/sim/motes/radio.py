"""The connections of a fleet to its broker: a few, each shared by many motes, all driven by one thread.

A real mote has a connection of its own, or a gateway that has. Thousands of connections would measure the simulator;
what a broker and a proxy see of a mote, its topics and its times, is the same.
"""

import select
import ssl
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

from paho.mqtt.client import Client, MQTTMessage
from paho.mqtt.enums import CallbackAPIVersion, MQTTErrorCode

from skerry.errors import InputError
from skerry.sensors.broker_address import BrokerAddress

__all__ = ["Radio"]

_MOTES_PER_CONNECTION = 250
_PATIENCE_S, _LONGEST_WAIT_S = 10.0, 30.0
_MOST_IN_FLIGHT = 10_000
_KEEPALIVE_S = 60
_READS_AT_ONCE = 20

Heard = Callable[[str, MQTTMessage], None]
Acknowledged = Callable[[Any], None]


@dataclass
class _Connection:
    """A client, what it has sent that was not acknowledged yet, and when to try again if it is away."""

    client: Client
    topics: list[str]
    in_flight: dict[int, Any] = field(default_factory=dict)
    is_open: bool = False
    refusal: str = ""
    wait_s: float = 0.5
    retry_at_s: float = 0.0


class Radio:
    """Publishes for motes with QoS 1 and listens on their control topics.

    ``heard`` is called with the topic and the message of each control; ``acknowledged`` with the token of each
    publication that the broker has. Both are called from within ``poll`` and ``publish``, in the caller's thread.

    Sessions are clean: control that is sent while a connection is away is as lost as if nobody had listened.
    """

    def __init__(
        self,
        address: BrokerAddress,
        topics: list[str],
        heard: Heard,
        acknowledged: Acknowledged,
        certificate: Path | None = None,
    ) -> None:
        self._address, self._heard, self._acknowledged = address, heard, acknowledged
        self._run, self._tls = uuid4().hex[:12], _trust(certificate) if address.is_encrypted else None
        starts = range(0, len(topics), _MOTES_PER_CONNECTION)
        self._connections = [self._build(topics[start : start + _MOTES_PER_CONNECTION]) for start in starts]
        self._misc_at_s = self.emptied_s = 0.0
        """When everything that had come was last taken: what is taken now has come since."""
        self.losses = 0
        """How often a connection was lost."""

    def connect(self) -> None:
        """Connect all, or say why that cannot be done."""
        deadline_s = time.monotonic() + _PATIENCE_S
        for connection in self._connections:
            self._connect_first(connection)
        while not all(connection.is_open for connection in self._connections):
            for connection in self._connections:
                if connection.refusal:
                    raise InputError(f"the broker {self._address} refuses the fleet: {connection.refusal}")
            if time.monotonic() > deadline_s:
                raise InputError(f"the broker {self._address} does not answer as an MQTT broker does")
            self.poll(0.05)

    def publish(self, mote: int, topic: str, payload: bytes, token: Any, *, is_retained: bool = False) -> bool:
        """Send for a mote; False if its connection is away, or so far behind that nothing more can be sent."""
        connection = self._connections[mote // _MOTES_PER_CONNECTION]
        if not connection.is_open or len(connection.in_flight) >= _MOST_IN_FLIGHT:
            return False
        sent = connection.client.publish(topic, payload, qos=1, retain=is_retained)
        if sent.rc == MQTTErrorCode.MQTT_ERR_QUEUE_SIZE:
            return False
        connection.in_flight[sent.mid] = token
        return True

    def poll(self, timeout_s: float) -> None:
        """Send and take what there is, waiting for something at most so long."""
        self._retry()
        for _ in range(_READS_AT_ONCE):
            looked_s = time.monotonic()
            if not self._read_and_write(timeout_s):
                self.emptied_s = looked_s
                break
            timeout_s = 0.0
        self._keep_alive()

    def _read_and_write(self, timeout_s: float) -> bool:
        """Do what can be done at once; False if there was nothing to read."""
        readers: dict[Any, _Connection] = {each.client.socket(): each for each in self._connections}
        readers.pop(None, None)  # of those that are away
        writers = {sock: each for sock, each in readers.items() if each.client.want_write()}
        pending = [sock for sock in readers if isinstance(sock, ssl.SSLSocket) and sock.pending()]
        if not readers:
            time.sleep(timeout_s)
            return False
        readable, writable, _ = select.select(readers, writers, (), 0.0 if pending else max(timeout_s, 0.0))
        for sock in {*readable, *pending}:
            readers[sock].client.loop_read()
        for sock in writable:
            writers[sock].client.loop_write()
        return bool(readable or pending)

    @property
    def unacknowledged(self) -> list[Any]:
        """The tokens of what the broker has not answered yet."""
        return [token for connection in self._connections for token in connection.in_flight.values()]

    def close(self) -> None:
        """Leave the broker."""
        for connection in self._connections:
            connection.is_open = False  # this is no loss
            connection.client.disconnect()
            deadline_s = time.monotonic() + 1.0
            while connection.client.want_write() and time.monotonic() < deadline_s:
                connection.client.loop_write()

    def _build(self, topics: list[str]) -> _Connection:
        number = f"skerry-motes-{self._run}-{topics[0].replace('/', '-')}"
        client = Client(CallbackAPIVersion.VERSION2, client_id=number, clean_session=True)
        client.connect_timeout = 3.0
        client.max_inflight_messages_set(0)
        client.max_queued_messages_set(0)
        if self._address.username is not None:
            client.username_pw_set(self._address.username, self._address.password)
        if self._tls is not None:
            client.tls_set_context(self._tls)
        connection = _Connection(client, topics)
        client.on_connect = lambda _client, _data, _flags, reason, _properties: self._greet(connection, reason)
        client.on_disconnect = lambda *_: self._lose(connection)
        client.on_publish = lambda _client, _data, number, *_: self._acknowledge(connection, number)
        client.on_message = lambda _client, _data, message: self._heard(message.topic, message)
        return connection

    def _connect_first(self, connection: _Connection) -> None:
        try:
            connection.client.connect(self._address.host, self._address.port, _KEEPALIVE_S)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise InputError(f"there is no MQTT broker at {self._address}: {reason}") from None

    def _greet(self, connection: _Connection, reason: Any) -> None:
        if reason.is_failure:
            connection.refusal = str(reason).lower()
            return
        connection.is_open, connection.wait_s = True, 0.5
        connection.client.subscribe([(topic, 1) for topic in connection.topics])

    def _lose(self, connection: _Connection) -> None:
        self.losses += connection.is_open
        connection.is_open = False
        connection.retry_at_s = time.monotonic() + connection.wait_s

    def _acknowledge(self, connection: _Connection, number: int) -> None:
        token = connection.in_flight.pop(number, None)
        if token is not None:
            self._acknowledged(token)

    def _retry(self) -> None:
        """Connect again what is away, ever more seldom."""
        now_s = time.monotonic()
        for connection in self._connections:
            if connection.client.socket() is None and now_s >= connection.retry_at_s:
                connection.wait_s = min(2 * connection.wait_s, _LONGEST_WAIT_S)
                connection.retry_at_s = now_s + connection.wait_s
                with suppress(OSError):  # it is still away
                    connection.client.reconnect()

    def _keep_alive(self) -> None:
        now_s = time.monotonic()
        if now_s >= self._misc_at_s:
            self._misc_at_s = now_s + 1.0
            for connection in self._connections:
                connection.client.loop_misc()


def _trust(certificate: Path | None) -> ssl.SSLContext:
    """The authorities that a broker's certificate is checked against."""
    try:
        return ssl.create_default_context(cafile=certificate)
    except (OSError, ssl.SSLError) as error:
        raise InputError(f"cannot read the certificate {str(certificate)!r}: {error}") from None
