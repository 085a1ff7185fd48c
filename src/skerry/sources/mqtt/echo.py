"""Tells what a broker has kept for us from what is sent just now.

A broker that knows a client keeps messages for it while it is away, and hands them over first, in their order. So a
client that sends itself a message as soon as it is connected has caught up when that message comes.
"""

import time
from collections.abc import Callable
from uuid import uuid4

__all__ = ["Echo", "name_echo_topic"]

_PATIENCE_SECONDS = 30.0
"""A broker that lets nobody hear himself must not stop everything."""


def name_echo_topic(data: str, client_id: str) -> str:
    """A topic to send oneself a message on: where a sensor of this name would get its control, if there is such.

    Whoever may send control may write there.

    >>> name_echo_topic("i80/{sensor}/data", "skerry-7"), name_echo_topic("all", "skerry-7")
    ('i80/skerry-7/control', 'skerry/skerry-7/control')
    """
    levels = data.split("/")
    fits = levels[-1] == "data" and levels[-2:-1] == ["{sensor}"] and "{" not in data.partition("{sensor}")[0]
    is_plain = fits and not any(mark in data for mark in "+#")
    return "/".join([*(levels[:-2] if is_plain else ["skerry"]), client_id, "control"])


class Echo:
    """A message to oneself, one per connection: an older one may be among what the broker has kept.

    >>> echo = Echo("i80/skerry-7/control")
    >>> echo.send(lambda topic, payload: print(topic))
    i80/skerry-7/control
    >>> echo.is_heard
    False
    """

    def __init__(self, topic: str, clock: Callable[[], float] = time.monotonic) -> None:
        self.topic, self._clock = topic, clock
        self._expected, self._has_come, self._given_up_at = b"", False, float("inf")

    @property
    def is_heard(self) -> bool:
        """Whether all that was sent before the connection has come."""
        return self._has_come or self._clock() >= self._given_up_at

    def forget(self) -> None:
        """The connection is gone."""
        self._expected, self._has_come, self._given_up_at = b"", False, float("inf")

    def send(self, publish: Callable[[str, bytes], None]) -> None:
        """There is a connection, and what we want to hear is known to the broker."""
        self._expected, self._given_up_at = uuid4().hex.encode(), self._clock() + _PATIENCE_SECONDS
        publish(self.topic, self._expected)

    def take(self, topic: str, payload: bytes) -> bool:
        """Take a message in, if it is from ourselves."""
        if topic != self.topic:
            return False
        self._has_come = self._has_come or (payload == self._expected and bool(payload))
        return True
