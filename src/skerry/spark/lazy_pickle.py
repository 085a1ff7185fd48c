"""Something that travels unopened: what is in it is loaded only where it is used.

Spark starts Python processes that merely pass a pipeline on. Loading one takes DuckDB, Numba and all
operators; a lazy pickle spares them that.
"""

import pickle
from typing import Any, Generic, TypeVar

__all__ = ["LazyPickle"]

Content = TypeVar("Content")


class LazyPickle(Generic[Content]):
    """Holds one thing, pickled by this program for its own workers.

    >>> LazyPickle([1, 2]).open()
    [1, 2]
    """

    def __init__(self, content: Content) -> None:
        self._packed: bytes = pickle.dumps(content)

    def __getstate__(self) -> dict[str, Any]:
        """Travel without what was opened."""
        return {"_packed": self._packed}

    def open(self) -> Content:
        """What is in it, unpacked once a process."""
        if not hasattr(self, "_content"):
            self._content: Content = pickle.loads(self._packed)
        return self._content
