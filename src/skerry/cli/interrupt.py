"""How a command is asked to stop."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event

__all__ = ["interruptible", "watch_interrupts"]

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_STOPPING = b"\nstopping; Ctrl-C again ends at once\n"


@contextmanager
def interruptible() -> Iterator[Event]:
    """Turn Ctrl-C and SIGTERM into a word to stop; a second Ctrl-C ends at once. A terminal is told so."""
    stopped = Event()

    def stop(*_: object) -> None:
        stopped.set()
        signal.signal(signal.SIGINT, before[signal.SIGINT])
        if sys.stderr is not None and sys.stderr.isatty():
            os.write(sys.stderr.fileno(), _STOPPING)  # a signal may come in the middle of a print

    before = {each: signal.getsignal(each) for each in _SIGNALS}
    for each in _SIGNALS:
        signal.signal(each, stop)
    try:
        yield stopped
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def watch_interrupts() -> Event:
    """Ctrl-C breaks off what is going on, as ever, and is remembered: libraries make errors of their own of it."""
    interrupted = Event()

    def break_off(number: int, frame: object) -> None:
        interrupted.set()
        raise KeyboardInterrupt

    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # else it is ignored, on somebody's wish
        signal.signal(signal.SIGINT, break_off)
    return interrupted
