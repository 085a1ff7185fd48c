"""Where things are kept that can be made again: compiled kernels, a Spark home."""

import os
import tempfile
from functools import cache
from pathlib import Path

__all__ = ["find_cache_folder", "name_cache_folder"]

_PROBE_BYTES = 1 << 20


def name_cache_folder() -> Path | None:
    """The folder in the user's cache (``XDG_CACHE_HOME``, else ``~/.cache``); None for a user without a home."""
    named = os.path.expanduser(os.environ.get("XDG_CACHE_HOME") or "~/.cache")  # Path's raises without a home
    return Path(named) / "skerry" if os.path.isabs(named) else None


def find_cache_folder() -> Path:
    """That folder, or where nothing can be written there, a temporary one that later processes find again."""
    return _find(name_cache_folder())


@cache
def _find(wanted: Path | None) -> Path:
    if wanted is not None and _is_writable(wanted):
        return wanted
    temporary = Path(tempfile.gettempdir()) / f"skerry-cache-{os.getuid()}"
    # What lies in a cache is code that we run: a folder that somebody else has made in our name does not serve.
    return temporary if _is_private(temporary) else Path(tempfile.mkdtemp(prefix="skerry-cache-"))


def _is_writable(folder: Path) -> bool:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(_PROBE_BYTES))  # a full disk still lets one make a file
            return True
    except OSError:
        return False


def _is_private(folder: Path) -> bool:
    """Whether a folder, made here if it is not there, is ours alone."""
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.lstat()
    except OSError:
        return False
    return not folder.is_symlink() and status.st_uid == os.getuid() and not status.st_mode & 0o077
