"""Which kernels a pipeline needs, and compiling them ahead, beside the start of Spark.

Numba compiles one kernel at a time in a process. So they are compiled in processes of their own, as many as there are
cores, which leave the machine code in the cache. What was compiled is marked there: the next run starts none.
"""

import gc
import hashlib
import logging
import os
import subprocess
import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib.metadata import version
from pathlib import Path

from skerry.build.kernel_names import SHEDDING
from skerry.build.table import name_kernels
from skerry.model.cache_folder import find_cache_folder
from skerry.pipeline.pipeline import Pipeline
from skerry.plan.fan_out import FanOut

__all__ = ["list_kinds", "name_all_kernels", "precompile", "precompile_beside"]

_log = logging.getLogger(__name__)
_ALWAYS, _INDEX = "folds", "index"
_SECONDS = {
    _INDEX: 11,
    "folds": 7,
    "snjoin": 6,
    "other techniques": 6,
    "rules": 4,
    "gather": 4,
    "over": 1,
    "sequences": 2,
}
"""About how long each kind takes, to deal them out; benchmarks/compile.py measures it."""
_PACKAGE = Path(__file__).parents[1]


def name_all_kernels(pipeline: Pipeline, *, subscribed: bool) -> list[str]:
    """The kinds of kernels that the views, the query index and every pipeline need."""
    names = {name for view in pipeline.views for state in view.states for name in name_kernels(state)}
    indexed = subscribed or pipeline.selections or any(isinstance(view.view.root, FanOut) for view in pipeline.views)
    return [_ALWAYS, *sorted(names - {_ALWAYS}), *([_INDEX] if indexed else [])]


def list_kinds() -> list[str]:
    """All kinds but those of joins that shed, of which each policy is one."""
    return list(_SECONDS)


def precompile(kinds: Iterable[str]) -> None:
    """Call every kernel of some kinds: seconds per kind the first time, then next to nothing."""
    for kind in kinds:
        _find(kind)()
        _find_mark(kind).touch()


@contextmanager
def precompile_beside(kinds: Collection[str], note: Callable[[str], None] = lambda text: None) -> Iterator[None]:
    """Compile in other processes, while the body runs, what is not in the cache yet; ``note`` is told what."""
    missing = [kind for kind in kinds if not _find_mark(kind).exists()]
    if missing:
        note(f"compiling {', '.join(missing)} (once)")
    processes = [_start(part) for part in _deal(missing, os.cpu_count() or 1)]
    try:
        yield
    finally:
        complaints = [process.communicate()[1] for process in processes]
    for process, complaint in zip(processes, complaints, strict=True):
        if process.returncode:  # whoever needs these kernels compiles them when it does
            _log.warning("kernels were not compiled ahead: %s", complaint.decode(errors="replace").strip()[-500:])


def _find(kind: str) -> Callable[[], None]:
    """What calls the kernels of a kind: of ``kernels.precompile``, the index, or the policy of a join that sheds."""
    # Loaded here, since every run asks this module what it needs, and few compile it.
    from skerry.index.precompile import precompile_index
    from skerry.kernels.precompile import PRECOMPILERS
    from skerry.shedding.precompile import precompile_shedding

    if kind in PRECOMPILERS:
        return PRECOMPILERS[kind]
    return precompile_index if kind == _INDEX else lambda: precompile_shedding(kind.removeprefix(SHEDDING))


def _start(kinds: list[str]) -> subprocess.Popen[bytes]:
    path = os.pathsep.join([str(_PACKAGE.parent), os.environ.get("PYTHONPATH", "")])
    return subprocess.Popen(
        [sys.executable, "-m", __name__, *kinds],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": path},
    )


def _deal(kinds: Iterable[str], count: int) -> list[list[str]]:
    """Kinds in at most so many parts that take about as long: the longest first, to whoever has least.

    >>> _deal(["folds", "gather", "index", "rules"], 2)
    [['index', 'rules'], ['folds', 'gather']]
    """
    parts: list[list[str]] = [[] for _ in range(count)]
    for kind in sorted(kinds, key=lambda kind: -_cost(kind)):
        min(parts, key=lambda part: sum(map(_cost, part))).append(kind)
    return [part for part in parts if part]


def _cost(kind: str) -> int:
    return _SECONDS.get(kind, max(_SECONDS.values()))


def _find_mark(kind: str) -> Path:
    """The file that says that a kind was compiled, from the texts that are there now."""
    folder = find_cache_folder() / "kernels" / "compiled"
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{kind.replace(' ', '-')}-{_hash_kernels()}"


@cache
def _hash_kernels() -> str:
    texts = hashlib.sha256(f"{version('numba')} {sys.version}".encode())
    for file in sorted((_PACKAGE / "kernels").rglob("*.py")):
        texts.update(file.read_bytes())
    return texts.hexdigest()[:32]


if __name__ == "__main__":
    gc.disable()  # a compiler makes little garbage and many objects: looking through them takes a tenth of the time
    precompile(sys.argv[1:])
