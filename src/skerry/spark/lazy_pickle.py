"""Something that travels unopened: what is in it is loaded only where it is used, and there once.

Spark starts Python processes that merely pass a pipeline on. Loading one takes DuckDB, Numba and all
operators; a lazy pickle spares them that. Spark hands a copy to every task; all tasks of a process open the same one.
"""

import pickle
from typing import Any, Generic, TypeVar
from uuid import uuid4

__all__ = ["LazyPickle"]

Content = TypeVar("Content")

_opened: dict[str, Any] = {}
"""What this process opened last. A run has a few such, and a process has one run at a time."""
_MOST = 4


class LazyPickle(Generic[Content]):
    """Holds one thing, pickled by this program for its own workers.

    >>> LazyPickle([1, 2]).open()
    [1, 2]
    """

    def __init__(self, content: Content) -> None:
        self._id, self._packed = uuid4().hex, pickle.dumps(content)

    def open(self) -> Content:
        """What is in it, unpacked once per process."""
        if self._id not in _opened:
            while len(_opened) >= _MOST:
                del _opened[next(iter(_opened))]
            _opened[self._id] = pickle.loads(self._packed)
        content: Content = _opened[self._id]
        return content
