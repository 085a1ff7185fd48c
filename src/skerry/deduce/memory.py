"""How much memory there is for a program: what the machine has left, or the group of processes that this one is in."""

import os
from collections.abc import Iterator
from pathlib import Path

__all__ = ["find_available_bytes"]

_CGROUPS = (("memory.max", "memory.current"), ("memory.limit_in_bytes", "memory.usage_in_bytes"))
"""The files that say how much a group may have and has, in the second version and in the first."""


def find_available_bytes(root: Path = Path("/")) -> int:
    """How many bytes this process could still take before the machine or its group runs out."""
    return max(0, min([*_list_group_room(root), _find_machine_room(root)]))


def _find_machine_room(root: Path) -> int:
    """What the machine can hand out without swapping; where it does not say, half of what it has."""
    for line in _read(root / "proc/meminfo").splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) << 10
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    except (AttributeError, OSError, ValueError):
        return 4 << 30


def _list_group_room(root: Path) -> Iterator[int]:
    """What is left of the limit of each group that this process is in, up to the outermost."""
    for line in _read(root / "proc/self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers and "memory" not in controllers.split(","):
            continue
        mounted = root / "sys/fs/cgroup" / ("memory" if controllers else "")
        inner = mounted / path.lstrip("/")
        for folder in (inner, *inner.parents):
            yield from _find_group_room(folder)
            if folder == mounted:
                break
        # In a container the path is the host's, and the group's own files stand at the root.
        yield from _find_group_room(mounted)


def _find_group_room(folder: Path) -> Iterator[int]:
    for most, current in _CGROUPS:
        allowed, used = _read(folder / most).strip(), _read(folder / current).strip()
        if allowed.isdigit() and used.isdigit():
            yield int(allowed) - int(used) + _find_reclaimable(folder)


def _find_reclaimable(folder: Path) -> int:
    """The pages of files that a group counts as its own, but would give up."""
    for line in _read(folder / "memory.stat").splitlines():
        name, _, value = line.partition(" ")
        if name in ("inactive_file", "total_inactive_file"):
            return int(value)
    return 0


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""
