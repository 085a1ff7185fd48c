"""The ground truth of a run: what a fleet sent and heard, as JSON lines, for checks from outside.

    {"what": "mote", "sensor": ..., "kind": ..., "latitude": ..., "longitude": ..., "clock_error_s": ...}
    {"what": "reading", "sensor": ..., "message": n, "seq": n, "ts": ..., COLUMN: ...}   acknowledged by the broker
    {"what": "unacknowledged", ...}    the same, where the run ended before the broker had answered
    {"what": "duplicate", "sensor": ..., "message": n}                             the second copy was acknowledged
    {"what": "garbled", "sensor": ..., "message": n, "payload": HEX}               nobody can read these readings
    {"what": "control", "sensor": ..., "heard": "taken", "received": ..., "after_ms": x, "payload": ...}
    {"what": "died" | "restarted" | "empty", "sensor": ..., "at_us": n}
    {"what": "energy", "sensor": ..., "energy_mj": x, "battery": x, ...}           at the end
    {"what": "summary", ...}                                                       the last line

``ts`` is as it was sent, ``at_us`` the time of the simulation in microseconds since 1970, ``received`` seconds since
1970 by the wall clock. ``after_ms`` is how long after the mote began to listen the control came.
"""

import json
from pathlib import Path
from typing import IO, Any

from skerry.errors import InputError

__all__ = ["Truth"]

_BUFFER = 1 << 20


class Truth:
    """Writes what happened to a file, or nowhere if there is none."""

    def __init__(self, path: Path | None) -> None:
        self._file: IO[str] | None = None
        self._encode = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False).encode
        if path is not None:
            try:
                self._file = path.open("w", encoding="utf-8", buffering=_BUFFER)
            except OSError as error:
                raise InputError(f"cannot write the truth to {str(path)!r}: {error.strerror}") from None

    def note(self, what: str, sensor: str, **known: Any) -> None:
        """Write a line."""
        if self._file is not None:
            self._file.write(self._encode({"what": what, "sensor": sensor, **known}) + "\n")

    def summarize(self, known: dict[str, Any]) -> None:
        """Write the last line."""
        if self._file is not None:
            self._file.write(self._encode({"what": "summary", **known}) + "\n")

    def close(self) -> None:
        """Finish the file."""
        if self._file is not None:
            self._file.close()
