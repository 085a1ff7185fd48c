"""Clients of a broker: how one logs in, and the one by which control goes out."""

import logging
import socket
import threading
from pathlib import Path
from types import TracebackType
from typing import Any

import paho.mqtt.client as paho
from paho.mqtt.enums import CallbackAPIVersion
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode

from skerry.sensors.broker_address import BrokerAddress, make_tls_context
from skerry.sources.mqtt.options import MqttOptions

__all__ = ["KEEPALIVE_SECONDS", "ControlConnection", "forget_client", "make_client"]

_log = logging.getLogger(__name__)
KEEPALIVE_SECONDS = 30
"""How often a client shows its broker that it is there."""
_MOST_UNACKNOWLEDGED = 100
_PATIENCE_SECONDS = 2.0


def make_client(options: MqttOptions, base: Path, client_id: str, *, is_kept: bool) -> paho.Client:
    """A client that will log in as a source says, and try again for ever once it has been connected.

    ``is_kept``: the broker keeps its subscriptions and messages while it is away, and it acknowledges by itself.
    """
    address = BrokerAddress.parse(options.url)
    client = paho.Client(
        CallbackAPIVersion.VERSION2, client_id, clean_session=not is_kept, manual_ack=is_kept, protocol=paho.MQTTv311
    )
    client.reconnect_delay_set(1, 30)
    if address.username is not None:
        client.username_pw_set(address.username, options.read_password(base) or address.password)
    if address.is_encrypted:
        ca_file = options.ca_file
        client.tls_set_context(make_tls_context(base / ca_file if ca_file else None, ca_file or ""))
    client.on_socket_open = _send_at_once
    return client


def _send_at_once(client: paho.Client, data: object, opened: Any) -> None:
    """Let no small message wait for the broker's answer to the one before: a sensor listens for a moment only."""
    opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def forget_client(options: MqttOptions, base: Path, client_id: str) -> None:
    """Have the broker forget a client for good, and what it keeps for it. One that is away cannot be asked."""
    address, answered = BrokerAddress.parse(options.url), threading.Event()
    client = make_client(options, base, client_id, is_kept=False)
    client.on_connect = lambda *_: answered.set()
    try:
        client.connect(address.host, address.port, KEEPALIVE_SECONDS)
    except (OSError, ValueError):
        return
    client.loop_start()
    answered.wait(_PATIENCE_SECONDS)
    client.disconnect()
    client.loop_stop()


class ControlConnection:
    """A connection that sends and receives nothing, so that what is sent has no readings to wait for.

    A client writes when it has read what has come. On the connection that readings come by, control would wait behind a
    burst of them. A broker that does not let us in twice, or is away, is no error: then it says so, and the
    other connection has to do.
    """

    def __init__(self, source: str, options: MqttOptions, base: Path, client_id: str) -> None:
        self._source, self._address = source, BrokerAddress.parse(options.url)
        self._client = make_client(options, base, f"{client_id}-control", is_kept=False)
        self._client.max_inflight_messages_set(_MOST_UNACKNOWLEDGED)
        self._client.on_connect = self._on_connect
        self._is_refused = False

    def __enter__(self) -> "ControlConnection":
        """Begin to connect; nothing waits for it."""
        self._client.connect_async(self._address.host, self._address.port, KEEPALIVE_SECONDS)
        self._client.loop_start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Disconnect."""
        self._client.disconnect()
        self._client.loop_stop()

    def choose(self, other: paho.Client) -> paho.Client:
        """The client to send by: this one if it is connected."""
        return self._client if self._client.is_connected() else other

    def _on_connect(
        self, client: paho.Client, data: object, flags: paho.ConnectFlags, code: ReasonCode, more: Properties | None
    ) -> None:
        if code.is_failure and not self._is_refused:
            self._is_refused = True
            _log.warning("source %s: no connection for control alone (%s)", self._source, f"{code}".lower())
