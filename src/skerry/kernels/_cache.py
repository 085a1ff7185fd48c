"""Where compiled kernels are kept, so that they are compiled once per user and not once per installation.

A kernel's machine code belongs to its source text and to that of the modules it calls. So it lies under a hash of them
all, in the user's cache folder: clones and environments with equal kernels share it, others do not disturb each other,
and a changed module is never met by code that was compiled against the old one.
"""

import hashlib
import logging
import os
import re
import shutil
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from numba.core.caching import FunctionCache, _CacheLocator

from skerry.kernels import COMPILATIONS
from skerry.model.cache_folder import find_cache_folder

__all__ = ["KernelCache", "KernelFiles"]

_log = logging.getLogger(__name__)
_compilations = logging.getLogger(COMPILATIONS)
_PACKAGE = Path(__file__).resolve().parents[1]
_OWN_IMPORT = re.compile(r"^(?:from|import) skerry\.([\w.]+)", re.MULTILINE)
_KEPT_SECONDS = 30 * 24 * 3600.0
"""What was compiled from other texts is removed when it has not been used for so long."""


class KernelCache(_CacheLocator):
    """Tells Numba where the machine code of one function is."""

    def __init__(self, function: Callable[..., Any], file: Path) -> None:
        self._line = function.__code__.co_firstlineno
        self._py_file = str(file)  # named by Numba when it says that machine code cannot be kept
        self._stamp = _hash_with_imports(file)
        self._path = find_cache_folder() / "kernels" / _name(file) / self._stamp

    @classmethod
    def from_function(cls, py_func: Callable[..., Any], py_file: str) -> "KernelCache":
        """Where the machine code of a function of a file is."""
        found = cls(py_func, Path(py_file).resolve())
        found.ensure_cache_path()
        return found

    def ensure_cache_path(self) -> None:
        """Make the folder; with a new one, those that nobody uses any more are removed."""
        if not self._path.exists():
            self._path.mkdir(parents=True, exist_ok=True)
            _sweep(self._path.parent)
        elif self._path.stat().st_mtime < time.time() - _KEPT_SECONDS / 2:
            os.utime(self._path)

    def get_cache_path(self) -> str:
        """The folder."""
        return str(self._path)

    def get_source_stamp(self) -> str:
        """What the machine code belongs to."""
        return self._stamp

    def get_disambiguator(self) -> str:
        """What tells functions of one name apart: their line."""
        return str(self._line)


class KernelFiles(FunctionCache):
    """The machine code of one function in its folder. What cannot be written there, the next process compiles too."""

    def load_overload(self, sig: object, target_context: object) -> object:
        """The machine code for some types; None if there is none, and then it is compiled."""
        found = super().load_overload(sig, target_context)
        if found is None:
            _compilations.info("compiling kernels of %s (once)", self._py_func.__module__.rpartition(".")[2])
        return found

    def save_overload(self, sig: object, data: object) -> None:
        """Keep machine code, unless the disk is full or gone: a kernel that works is no reason to stop."""
        try:
            super().save_overload(sig, data)
        except OSError as error:
            _log.warning("a compiled kernel is not kept: %s: %s", error.strerror, error.filename or self.cache_path)


def _name(file: Path) -> str:
    """A module's name within the package; of one outside, such as a test with a kernel of its own, that of its file."""
    inside = file.is_relative_to(_PACKAGE)
    return ".".join(file.relative_to(_PACKAGE).with_suffix("").parts) if inside else file.stem


@cache
def _hash_with_imports(file: Path) -> str:
    """A hash of a module's text and of all modules of this package that it imports, at first or second hand."""
    found, todo = {file}, [file]
    while todo:
        for module in _list_imports(todo.pop()) - found:
            found.add(module)
            todo.append(module)
    texts = hashlib.sha256()
    for each in sorted(found):
        texts.update(f"{_name(each)}\n".encode() + _read(each))
    return texts.hexdigest()[:32]


@cache
def _list_imports(file: Path) -> set[Path]:
    modules = (_PACKAGE.joinpath(*name.split(".")) for name in _OWN_IMPORT.findall(_read(file).decode()))
    return {
        found for module in modules for found in (module.with_suffix(".py"), module / "__init__.py") if found.exists()
    }


@cache
def _read(file: Path) -> bytes:
    return file.read_bytes()


def _sweep(folder: Path) -> None:
    """Remove what was compiled from texts that have not been seen for long."""
    oldest = time.time() - _KEPT_SECONDS
    for each in folder.iterdir():
        if each.stat().st_mtime < oldest:
            shutil.rmtree(each, ignore_errors=True)
