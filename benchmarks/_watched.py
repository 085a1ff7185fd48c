"""A command in a process of its own, and the memory that it and its children take."""

import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path

_PERIOD_SECONDS = 0.25


def watched(command: Sequence[str]) -> tuple[str, int]:
    """What a command prints, and the most bytes that its processes held together, shared pages counted once."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    ended, peaks = threading.Event(), [0]

    def watch() -> None:
        while not ended.wait(_PERIOD_SECONDS):
            peaks[0] = max(peaks[0], sum(_held(one) for one in _family(process.pid)))

    watcher = threading.Thread(target=watch)
    watcher.start()
    printed, _ = process.communicate()
    ended.set()
    watcher.join()
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
    return printed, peaks[0]


def _family(ancestor: int) -> set[int]:
    """A process and all that come from it."""
    parents = {}
    for place in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(place.parent.name)] = int(place.read_text().rpartition(")")[2].split()[1])
        except (FileNotFoundError, ProcessLookupError):
            continue
    found, before = {ancestor}, 0
    while len(found) > before:
        before = len(found)
        found |= {child for child, parent in parents.items() if parent in found}
    return found


def _held(process: int) -> int:
    """The bytes of a process; a page that several share counts in parts."""
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))
