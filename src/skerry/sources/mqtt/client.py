"""A client of an MQTT broker that acknowledges what is on disk."""

import logging
import threading
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from types import TracebackType
from uuid import uuid4

import paho.mqtt.client as paho
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode

from skerry.errors import RunError, SkerryError, SourceError
from skerry.model.atomic_write import write_atomically
from skerry.model.time import Micros
from skerry.sensors.broker_address import BrokerAddress
from skerry.sensors.heard import Heard
from skerry.sensors.messages import Setting
from skerry.sensors.proxies import Proxy
from skerry.sources.mqtt.cbor import to_json
from skerry.sources.mqtt.connection import KEEPALIVE_SECONDS, ControlConnection, forget_client, make_client
from skerry.sources.mqtt.control import ControlChannel, WrongState, find_state_topic
from skerry.sources.mqtt.echo import Echo, name_echo_topic
from skerry.sources.mqtt.options import MqttOptions
from skerry.sources.mqtt.topic import Topic
from skerry.sources.spool.doubles import Identity
from skerry.sources.spool.receiver import Receiver
from skerry.sources.spool.segments import Segments
from skerry.sources.spool.unfold import Message
from skerry.sources.spool.writer import tell_time

__all__ = ["MqttReceiving"]

_log = logging.getLogger(__name__)
_PATIENCE_SECONDS = 10.0
"""How long the first connection may take: later ones are tried for ever."""
_MOST_UNACKNOWLEDGED = 20_000
_ECHO_SECONDS = 0.01
_REFUSED = 128
_TEMPORARY = (0x88, 0x89)
"""A broker that is not available, or busy."""


class MqttReceiving:
    """A subscription, as long as the context is open.

    The name by which the broker knows the client is kept beside the spool: what came while nobody was there is
    delivered to whoever goes on with it. If nobody will (``is_kept`` is false), the broker is asked to forget the name,
    and to keep nothing for it.
    """

    def __init__(
        self, source: str, options: MqttOptions, base: Path, folder: Path, identity: Identity, *, is_kept: bool = True
    ) -> None:
        self._source, self._options, self._topic = source, options, Topic.parse(options.topic)
        self._base, self._is_kept = base, is_kept or options.client_id is not None
        self._address = BrokerAddress.parse(options.url)
        self._client_id = client_id = _find_client_id(options, folder)
        self._echo = Echo(name_echo_topic(options.topic, client_id))
        self._receiver = Receiver(
            folder,
            options.max_message_bytes,
            identity,
            self._has_caught_up,
            pattern=self._topic.pattern,
            value_column=options.value_column,
        )
        state_topic = find_state_topic(options.topic)
        self._channel = ControlChannel(state_topic, self._send_control) if state_topic else None
        self._control = ControlConnection(source, options, base, client_id) if state_topic else None
        self._answered, self._ended = threading.Event(), threading.Event()
        self._echoing = threading.Thread(target=self._keep_echoing, name="echo", daemon=True)
        self._failure: SkerryError | None = None
        self._is_closing = False
        self._connections = 0
        """Rises when one begins, and when it ends."""
        self._is_known = Segments(folder).count() > 0
        """Whether the broker should know us, from this run or the one that this one goes on with."""
        self._client = self._make_client(client_id, base)

    def __enter__(self) -> "MqttReceiving":
        """Connect. If the broker does not answer at first, that is an error; later it is waited for."""
        self._receiver.__enter__()
        try:
            self._client.connect(self._address.host, self._address.port, KEEPALIVE_SECONDS)
        except (OSError, ValueError) as error:
            self._receiver.__exit__(None, None, None)
            raise self._describe(getattr(error, "strerror", None) or str(error)) from None
        self._client.loop_start()
        if self._control:
            self._control.__enter__()
        self._echoing.start()
        self._answered.wait(_PATIENCE_SECONDS)
        if self._failure or not self._answered.is_set():
            self.__exit__(None, None, None)
            raise self._failure or self._describe("no answer")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Disconnect, after what has come is on disk and acknowledged."""
        self._is_closing = True
        self._ended.set()
        self._echoing.join()
        self._receiver.__exit__(kind, error, trace)
        if self._control:
            self._control.__exit__(kind, error, trace)
        self._client.disconnect()
        self._client.loop_stop()
        if not self._is_kept and self._connections:
            forget_client(self._options, self._base, self._client_id)

    def check(self) -> None:
        """Raise what has ended it."""
        self._receiver.check()
        if self._failure:
            raise self._failure

    def want(self, settings: Mapping[str, Setting], others: Setting | None = None) -> None:
        """What is wanted of the sensors, and of those that are not named."""
        if self._channel:
            self._channel.want(settings, others)

    def list_proxies(self) -> Mapping[str, Proxy]:
        """What is known of the sensors by now."""
        return self._channel.list_proxies() if self._channel else {}

    def take_heard(self) -> Mapping[str, Heard]:
        """Who was heard since this was asked last."""
        return self._receiver.counts.take()

    def settle_heard(self) -> None:
        """What was taken last is kept."""
        self._receiver.counts.settle()

    def _keep_echoing(self) -> None:
        """While a sensor waits for control, know how old its next message is: it listens for a moment only."""
        while self._channel and not self._ended.wait(_ECHO_SECONDS):
            if self._has_caught_up() and not self._echo.is_crowded and self._channel.has_control_due(tell_time()):
                self._echo.send(self._send_echo)

    def _has_caught_up(self) -> bool:
        """Whether what comes now was sent now, and not while we were away."""
        return self._client.is_connected() and self._echo.is_heard

    def _send_echo(self, topic: str, payload: bytes) -> None:
        """Send an echo; of QoS 1, or it would overtake readings that the broker has for us."""
        self._choose_client().publish(topic, payload, qos=1)

    def _send_control(self, topic: str, payload: bytes) -> None:
        """Send control, now or not at all: with QoS 1 it would come again when its sensor does not listen any more."""
        self._choose_client().publish(topic, payload, qos=0)

    def _choose_client(self) -> paho.Client:
        return self._control.choose(self._client) if self._control else self._client

    def _make_client(self, client_id: str, base: Path) -> paho.Client:
        client = make_client(self._options, base, client_id, is_kept=True)
        client.max_inflight_messages_set(_MOST_UNACKNOWLEDGED)
        client.on_connect, client.on_subscribe = self._on_connect, self._on_subscribe
        client.on_message, client.on_disconnect = self._on_message, self._on_disconnect
        return client

    def _on_connect(
        self, client: paho.Client, data: object, flags: paho.ConnectFlags, code: ReasonCode, more: Properties | None
    ) -> None:
        if code.value in _TEMPORARY:
            return  # it is tried again
        if code.is_failure:
            self._fail(f"{code}".lower())
            return
        if self._is_known and not flags.session_present:
            _log.warning(
                "source %s: the broker has forgotten it; what was sent since the last connection may be lost",
                self._source,
            )
        self._is_known = True
        self._connections += 1
        self._echo.forget()
        wanted = [(self._topic.filter, self._options.qos), (self._echo.topic, 1)]
        if self._channel:
            wanted.append((self._channel.topic.filter, 1))
        client.subscribe(wanted)
        if flags.session_present:  # it knows what we want; its answer comes after all that it has kept for us
            self._answered.set()

    def _on_subscribe(
        self, client: paho.Client, data: object, mid: int, codes: list[ReasonCode], more: Properties | None
    ) -> None:
        if codes[0].value >= _REFUSED:  # of the readings; without states there is no control
            self._fail(f"it does not let us subscribe to {self._topic.filter!r}")
        self._echo.send(self._send_echo)
        self._answered.set()

    def _on_disconnect(
        self,
        client: paho.Client,
        data: object,
        flags: paho.DisconnectFlags,
        code: ReasonCode,
        more: Properties | None,
    ) -> None:
        self._connections += 1
        if code.is_failure and not self._is_closing:
            _log.warning("source %s: the broker is gone (%s); trying again", self._source, code)

    def _on_message(self, client: paho.Client, data: object, message: paho.MQTTMessage) -> None:
        """Take a message in. What fails here would end paho's thread, and nobody would hear of it."""
        try:
            self._take(message)
        except SkerryError:
            return  # it is not acknowledged; ``check`` tells the run why
        except Exception as error:
            self._failure = RunError(f"source {self._source!r}: cannot receive: {type(error).__name__}: {error}")

    def _take(self, message: paho.MQTTMessage) -> None:
        """Take a message in. A retained one is no news: it was sent before we asked."""
        now, payload = tell_time(), bytes(message.payload)
        if self._echo.take(message.topic, payload):
            self._acknowledge(message, self._connections)
            return
        age_s = self._echo.age_s
        is_state, problem = self._take_state(message, payload, now, age_s)
        if message.retain or (is_state and problem is None):
            if problem is not None:
                _log.warning("%s: %s", message.topic, problem)
            self._acknowledge(message, self._connections)
            return
        if not is_state:
            if self._options.encoding == "cbor":
                payload, problem = to_json(payload, self._options.max_message_bytes)
            if self._channel:
                self._channel.note_data(message.topic, payload, now, age_s)
        taken = Message(message.topic, payload, now, problem, is_repeated=message.dup)
        self._receiver.put(taken, partial(self._acknowledge, message, self._connections))

    def _take_state(
        self, message: paho.MQTTMessage, payload: bytes, now: Micros, age_s: float
    ) -> tuple[bool, str | None]:
        """Whether a message is a state; and if so, what is wrong with it. From a kept one nobody listens now."""
        if self._channel is None:
            return False, None
        try:
            return self._channel.take_state(
                message.topic, payload, now, float("inf") if message.retain else age_s
            ), None
        except WrongState as error:
            return True, str(error)

    def _acknowledge(self, message: paho.MQTTMessage, connection: int) -> None:
        """Say that a message is on disk, by the connection that brought it: another one gives its number to another.

        What is not acknowledged comes again, and is a double then.
        """
        if connection == self._connections:
            self._client.ack(message.mid, message.qos)

    def _fail(self, reason: str) -> None:
        self._failure = self._describe(reason)
        self._answered.set()

    def _describe(self, reason: str) -> SourceError:
        where = f"{self._address.host}:{self._address.port}"
        return SourceError(f"source {self._source!r}: the broker {where} cannot be used: {reason}")


def _find_client_id(options: MqttOptions, folder: Path) -> str:
    """The name of the client: as asked for, or made once and kept."""
    if options.client_id is not None:
        return options.client_id
    file = folder / "client_id"
    if not file.exists():
        folder.mkdir(parents=True, exist_ok=True)
        write_atomically(file, f"skerry-{uuid4().hex[:12]}".encode())
    return file.read_text()
