"""What a terminal shows while kernels are compiled: the first run of a user waits for it, and should know why."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from skerry.kernels import COMPILATIONS

__all__ = ["note_compilations"]


class _Notes(logging.Handler):
    def __init__(self, note: Callable[[str], None]) -> None:
        super().__init__()
        self._note = note

    def emit(self, record: logging.LogRecord) -> None:
        """Hand the message on."""
        self._note(record.getMessage())


@contextmanager
def note_compilations(note: Callable[[str], None]) -> Iterator[None]:
    """While the body runs, ``note`` is told each kernel that is compiled because the cache does not have it."""
    log, handler = logging.getLogger(COMPILATIONS), _Notes(note)
    level = log.level
    log.setLevel(logging.INFO)
    log.addHandler(handler)
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.setLevel(level)
