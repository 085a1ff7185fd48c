"""What it takes to compile the kernels, with nothing compiled before: seconds of CPU by kind, and the dearest kernels.

A kernel's time is its own, without that of the kernels it calls. It is CPU time, so a busy machine disturbs it little.

    python benchmarks/compile.py --quick
    python benchmarks/compile.py --json compile.json
"""

import argparse
import json
import os
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

from _report import Report

_SHOWN = 25
_QUICK = ("folds",)


def count_kernels(times: Counter[str]) -> None:
    """Note the CPU time of every kernel that is compiled from now on."""
    from numba.core import event

    class Stopwatch(event.Listener):  # type: ignore[misc]
        def __init__(self) -> None:
            self._open: list[list[float]] = []

        def on_start(self, event: Any) -> None:
            self._open.append([time.process_time(), 0.0])

        def on_end(self, event: Any) -> None:
            begun, inner = self._open.pop()
            taken = time.process_time() - begun
            if self._open:
                self._open[-1][1] += taken
            function = event.data["dispatcher"].py_func
            times[f"{function.__module__}.{function.__name__}"] += taken - inner

    event.register("numba:compile", Stopwatch())


def list_kinds() -> dict[str, Callable[[], None]]:
    """What calls the kernels of each kind."""
    from skerry.index.precompile import precompile_index
    from skerry.kernels.precompile import PRECOMPILERS
    from skerry.shedding.bounded_join import POLICIES
    from skerry.shedding.precompile import precompile_shedding

    shedding = {f"shedding, {policy}": partial(precompile_shedding, policy) for policy in POLICIES}
    return {**PRECOMPILERS, **shedding, "index": precompile_index}


def measure(report: Report, *, quick: bool) -> None:
    times: Counter[str] = Counter()
    count_kernels(times)
    for name, call in list_kinds().items():
        if not quick or name in _QUICK:
            begun = time.process_time()
            call()
            report.tell(name, time.process_time() - begun, "s of CPU")
    report.tell("all kernels", times.total(), "s of CPU")
    for name, taken in times.most_common(_SHOWN):
        report.tell(name, taken, "s of CPU")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="only the kernels behind aggregates")
    parser.add_argument("--json", help="write the numbers to this file too")
    given, report = parser.parse_args(), Report()
    with tempfile.TemporaryDirectory() as empty:
        os.environ["XDG_CACHE_HOME"] = empty  # before Skerry is loaded: this is where it keeps compiled kernels
        measure(report, quick=given.quick)
    if given.json:
        with open(given.json, "w") as file:
            json.dump(report.found, file, indent=2)


if __name__ == "__main__":
    main()
