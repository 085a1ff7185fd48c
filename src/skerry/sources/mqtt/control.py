"""The way between proxies and sensors: states come in, control goes out while a sensor listens."""

import json
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from skerry.model.time import Micros
from skerry.sensors.cbor import read_cbor
from skerry.sensors.messages import LONGEST_LISTENING_MS, Control, SensorState, Setting
from skerry.sensors.proxies import Proxies, Proxy
from skerry.sensors.watch import read_readings
from skerry.sources.mqtt.topic import Topic

__all__ = ["ControlChannel", "WrongState", "find_state_topic"]

_LISTENS = re.compile(rb'"listens_ms"\s*:\s*(\d+(?:\.\d+)?)')
_LONGEST_STATE = 1 << 16
_DATA, _STATE, _CONTROL = "data", "state", "control"


class WrongState(ValueError):
    """A message on a topic of states is none; it says why."""


Publish = Callable[[str, bytes], None]
"""Sends a message to a topic."""


def find_state_topic(data: str) -> str | None:
    """Where the sensors of a source tell their states; None if its topics do not name them.

    >>> find_state_topic("i80/{sensor}/data"), find_state_topic("all")
    ('i80/{sensor}/state', None)
    """
    levels = data.split("/")
    return "/".join([*levels[:-1], _STATE]) if "{sensor}" in levels and levels[-1] == _DATA else None


class ControlChannel:
    """The proxies of a source's sensors, and the topics by which they talk.

    What is wanted may be said in another thread than the one in which messages come.
    """

    def __init__(self, state_topic: str, publish: Publish) -> None:
        self.topic = Topic.parse(state_topic)
        self._publish, self._proxies = publish, Proxies()
        self._lock = threading.Lock()

    def want(self, settings: Mapping[str, Setting], others: Setting | None) -> None:
        """What is wanted of the sensors from now on."""
        with self._lock:
            self._proxies.want(settings, others)

    def list_proxies(self) -> dict[str, Proxy]:
        """What is known of the sensors by now."""
        with self._lock:
            return dict(self._proxies.by_sensor)

    def take_state(self, topic: str, payload: bytes, now: Micros, age_s: float) -> bool:
        """Take a message in, if it is a state. One that is too old does not say that a sensor listens now.

        A ``WrongState`` says why one cannot be read.

        ``age_s`` is how long ago the broker can have taken it at the most.
        """
        found = re.fullmatch(self.topic.pattern, topic)
        if found is None:
            return False
        try:
            state = _read_state(payload)
        except ValueError as error:
            raise WrongState(f"a state that cannot be read: {error}") from None
        self._hear(found["sensor"], topic, now, state, listens=_is_listening(state.listens_ms, age_s))
        return True

    def has_control_due(self, now: Micros) -> bool:
        """Whether some sensor is to be told something when it listens next."""
        with self._lock:
            return self._proxies.has_control_due(now)

    def note_data(self, topic: str, payload: bytes, now: Micros, age_s: float) -> None:
        """A sensor has sent readings; the message says whether it listens, unless it is too old."""
        found = re.fullmatch(self.topic.pattern, _replace_last(topic, _STATE))
        if found is not None:
            listens = _is_listening(_find_listens_ms(payload), age_s)
            self._hear(found["sensor"], topic, now, None, read_readings(payload), listens=listens)

    def _hear(
        self,
        sensor: str,
        topic: str,
        now: Micros,
        state: SensorState | None,
        readings: Sequence[Mapping[str, Any]] = (),
        *,
        listens: bool,
    ) -> None:
        with self._lock:
            control = self._proxies.hear(sensor, now, state, readings, listens=listens)
        if control is not None:
            self._publish(_replace_last(topic, _CONTROL), _write(control))


def _replace_last(topic: str, level: str) -> str:
    return f"{topic.rpartition('/')[0]}/{level}"


def _write(control: Control) -> bytes:
    return json.dumps(control.to_json()).encode()


def _find_listens_ms(payload: bytes) -> float:
    found = _LISTENS.search(payload)
    return 0.0 if found is None else min(float(found[1]), LONGEST_LISTENING_MS)


def _is_listening(listens_ms: float, age_s: float) -> bool:
    """Whether a sensor still listens after its message, with as much time left for the way to it.

    >>> _is_listening(50.0, age_s=0.02), _is_listening(50.0, age_s=0.03), _is_listening(0.0, age_s=0.0)
    (True, False, False)
    """
    return listens_ms > 0 and 2.0 * age_s <= listens_ms / 1000


def _read_state(payload: bytes) -> SensorState:
    """A state, in JSON or CBOR. A ``ValueError`` says why it is none."""
    if len(payload) > _LONGEST_STATE:
        raise ValueError(f"{len(payload)} bytes, at most {_LONGEST_STATE}")
    try:
        found = json.loads(payload) if payload[:1] == b"{" else read_cbor(payload, _LONGEST_STATE, depth=8)
    except RecursionError:
        raise ValueError("nested too deep") from None
    if not isinstance(found, dict):
        raise ValueError("not an object")
    return SensorState.from_json(found)
