"""What carries the messages of a fleet in simulated time: no broker, no threads, and no clock but its own.

    mote ── publish ──> (delay) ──┬──> (delay) ──> whoever listens: proxies
      ^                           └──> (delay) ──> acknowledged: the mote listens
      └──────────────── (delay) <── send ──────────── control

As with a broker, what goes to a mote comes in the order in which it was sent, and so does what goes to the proxies.
Delays are drawn from a seed, so equal seeds are equal runs.
"""

from collections.abc import Callable
from heapq import heappop, heappush
from random import Random
from typing import Any

from paho.mqtt.client import MQTTMessage

from skerry.errors import OptionError

__all__ = ["Ether"]

Hear = Callable[[str, MQTTMessage], None]
Take = Callable[[str, bytes], None]


class Ether:
    """Carries messages, each leg of the way in up to ``slowest_ms``. Time passes in ``poll`` alone.

    >>> ether, heard = Ether(), []
    >>> ether.listen(lambda topic, payload: heard.append((topic, payload)))
    >>> ether.join(lambda topic, message: None, lambda token: heard.append(token))
    >>> ether.publish(0, "motes/a/data", b"{}", "sent")
    True
    >>> ether.poll(1.0), ether.poll(1.0)
    (None, None)
    >>> sorted(map(str, heard))
    ["('motes/a/data', b'{}')", 'sent']
    """

    def __init__(self, seed: int = 1, slowest_ms: float = 10.0) -> None:
        if not 0.0 <= slowest_ms < 1e6:
            raise OptionError(f"a message takes from 0 ms on to arrive; got {slowest_ms:g}")
        self.losses, self._now_s = 0, 0.0
        self._random, self.slowest_s = Random(seed), slowest_ms / 1000
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._count = 0
        self._arrived_s: dict[str, float] = {}
        """By where messages go, when the last one comes: none overtakes another."""
        self._waiting: dict[int, Any] = {}
        self._hear: Hear = lambda topic, message: None
        self._acknowledge: Callable[[Any], None] = lambda token: None
        self._take: Take = lambda topic, payload: None

    def tell_seconds(self) -> float:
        """The time, in seconds since the beginning."""
        return self._now_s

    @property
    def emptied_s(self) -> float:
        """Nothing that has come waits to be taken."""
        return self._now_s

    @property
    def unacknowledged(self) -> list[Any]:
        """The tokens of what was not answered yet."""
        return list(self._waiting.values())

    def join(self, hear: Hear, acknowledge: Callable[[Any], None]) -> None:
        """Hand control, and answers to what was published, to a fleet."""
        self._hear, self._acknowledge = hear, acknowledge

    def listen(self, take: Take) -> None:
        """Hand what motes publish to proxies."""
        self._take = take

    def connect(self) -> None:
        """Nothing is needed."""

    def close(self) -> None:
        """Nothing is held."""

    def publish(self, mote: int, topic: str, payload: bytes, token: Any, *, is_retained: bool = False) -> bool:
        """Send for a mote: to whoever listens, and an answer back."""
        self._count += 1
        number, there_s = self._count, self._travel("broker", self._now_s)
        self._waiting[number] = token
        self.plan(self._travel(_name_sensor(topic), there_s), lambda: self._answer(number))
        self.plan(self._travel("proxies", there_s), lambda: self._take(topic, payload))
        return True

    def send(self, topic: str, payload: bytes) -> None:
        """Send control to a mote."""
        message = MQTTMessage(topic=topic.encode())
        message.payload = payload
        there_s = self._travel("broker", self._now_s)
        self.plan(self._travel(_name_sensor(topic), there_s), lambda: self._hear(topic, message))

    def plan(self, at_s: float, act: Callable[[], None]) -> None:
        """Do something at a time."""
        self._count += 1
        heappush(self._events, (at_s, self._count, act))

    def repeat(self, every_s: float, act: Callable[[], None]) -> None:
        """Do something now and then, from now on."""

        def do() -> None:
            act()
            self.plan(self._now_s + every_s, do)

        self.plan(self._now_s, do)

    def poll(self, timeout_s: float) -> None:
        """Let time pass until something has come, or for so long."""
        ends_s = self._now_s + max(timeout_s, 0.0)
        if not self._events or self._events[0][0] > ends_s:
            self._now_s = ends_s
            return
        self._now_s, _, act = heappop(self._events)
        act()

    def _answer(self, number: int) -> None:
        self._acknowledge(self._waiting.pop(number))

    def _travel(self, where: str, from_s: float) -> float:
        """When something that is sent now comes to somewhere."""
        comes_s = max(from_s + self._random.uniform(0.0, self.slowest_s), self._arrived_s.get(where, 0.0))
        self._arrived_s[where] = comes_s
        return comes_s


def _name_sensor(topic: str) -> str:
    """Where a message to or from a mote ends: the levels before the last."""
    return topic.rpartition("/")[0]
