"""How a command that goes on for long is asked to stop."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event

__all__ = ["interruptible"]

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def interruptible() -> Iterator[Event]:
    """Turn Ctrl-C and SIGTERM into a word to stop; a second Ctrl-C ends at once."""
    stopped = Event()

    def stop(*_: object) -> None:
        stopped.set()
        signal.signal(signal.SIGINT, signal.default_int_handler)

    before = {each: signal.signal(each, stop) for each in _SIGNALS}
    try:
        yield stopped
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
