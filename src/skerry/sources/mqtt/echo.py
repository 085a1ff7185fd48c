"""Tells how old messages of a broker are: those that it has kept for us, and those that we are slow to take.

A broker hands messages to a client in the order in which it took them, those first that it kept while the client was
away. So a client that sends itself a message has caught up with that moment when the message comes back.
"""

import threading
import time
from collections.abc import Callable
from uuid import uuid4

__all__ = ["Echo", "name_echo_topic"]

_QUIET_SECONDS, _PATIENCE_SECONDS = 5.0, 600.0
"""A broker that lets nobody hear himself must not stop everything. It is one if nothing at all comes for so long, or no
echo for so long: what it has kept may take minutes to come."""
_MOST_ON_THE_WAY = 50


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
    """Messages to oneself. Those of an earlier connection may be among what the broker has kept, and say nothing.

    What comes now was not there yet when the newest echo that has come back was sent: so it is no older than that.

    >>> echo = Echo("i80/skerry-7/control", clock=lambda: 5.0)
    >>> echo.send(lambda topic, payload: print(topic))
    i80/skerry-7/control
    >>> echo.is_heard, echo.age_s
    (False, inf)
    """

    def __init__(self, topic: str, clock: Callable[[], float] = time.monotonic) -> None:
        self.topic, self._clock, self._lock = topic, clock, threading.Lock()
        self.forget()

    @property
    def is_heard(self) -> bool:
        """Whether all that was sent before the connection has come."""
        return self._heard_s > float("-inf") or self._is_given_up()

    @property
    def age_s(self) -> float:
        """How old a message that comes now can be, at the most, since the broker took it."""
        if self._heard_s == float("-inf"):
            return 0.0 if self.is_heard else float("inf")  # a broker without echoes: nobody knows
        return self._clock() - self._heard_s

    @property
    def is_crowded(self) -> bool:
        """Whether so many have not come back yet that more would only add to the load."""
        return len(self._sent) >= _MOST_ON_THE_WAY

    def forget(self) -> None:
        """The connection is gone."""
        with self._lock:
            self._connection = uuid4().hex
            self._sent: dict[bytes, float] = {}
            self._number, self._heard_s, self._first_s, self._newest_s = 0, float("-inf"), float("inf"), float("-inf")
            self._has_given_up = False

    def send(self, publish: Callable[[str, bytes], None]) -> None:
        """There is a connection, and what we want to hear is known to the broker."""
        with self._lock:
            payload, now = f"{self._connection} {self._number}".encode(), self._clock()
            self._first_s = min(self._first_s, now)
            self._number += 1
            self._sent[payload] = now
        publish(self.topic, payload)

    def take(self, topic: str, payload: bytes) -> bool:
        """Take a message in, if it is from ourselves. Others show that the broker still has something to say."""
        self._is_given_up()  # what comes after a pause does not undo it
        self._newest_s = self._clock()
        if topic != self.topic:
            return False
        with self._lock:
            self._heard_s = max(self._heard_s, self._sent.pop(payload, float("-inf")))
        return True

    def _is_given_up(self) -> bool:
        now = self._clock()
        is_quiet = now - max(self._first_s, self._newest_s) >= _QUIET_SECONDS
        self._has_given_up = self._has_given_up or is_quiet or now - self._first_s >= _PATIENCE_SECONDS
        return self._has_given_up
