"""Loading much at once: the collector of garbage would look at all that is there again and again, and find none."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["load_in_bulk"]


@contextmanager
def load_in_bulk() -> Iterator[None]:
    """Leave garbage alone meanwhile, if it was not left alone already.

    >>> with load_in_bulk():
    ...     gc.isenabled()
    False
    >>> gc.isenabled()
    True
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
