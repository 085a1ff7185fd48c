"""Start without pandas, which nothing on the command line needs.

PyArrow loads it with the first list that it makes an array of, to see whether it is one of its series: a tenth of the
time that a small script takes in process.
"""

import sys
from importlib.machinery import ModuleSpec

__all__ = ["leave_out_pandas"]


def leave_out_pandas() -> None:
    """Let PyArrow look for pandas now, and not find it. Whoever imports it later has it, ``to_pandas`` too."""
    if "pandas" in sys.modules:
        return
    import pyarrow as pa

    hidden = _Hidden()
    sys.meta_path.insert(0, hidden)
    try:
        pa.array([None])
    finally:
        sys.meta_path.remove(hidden)


class _Hidden:
    """Says of pandas that there is none."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """Nothing, or for pandas the error of a module that is not installed."""
        if name == "pandas":
            raise ModuleNotFoundError(f"no module named {name!r} yet", name=name)
        return None
