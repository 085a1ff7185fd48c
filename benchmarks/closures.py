"""Closures of grids with arcs to the right and down, by the command line: in one process, and on Spark.

All counts are checked: a grid of n x n nodes has (n (n + 1) / 2)² - n² paths.

    python benchmarks/closures.py --quick
    python benchmarks/closures.py --json closures.json
"""

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

from _report import Report

from _watched import watched

PROGRAM = """
base edge(x: int, y: int).
path(a, b) :- edge(a, b).
path(a, c) :- path(a, b), edge(b, c).
"""
_COMMAND = (sys.executable, "-c", "from skerry.cli import main; main()", "rules", "run")


def write_grid(folder: Path, side: int) -> None:
    """The arcs of a grid, as facts."""
    arcs = [(node, node + 1) for node in range(side * side) if (node + 1) % side]
    arcs += [(node, node + side) for node in range(side * side - side)]
    lines = ["x,y", *(f"{first},{second}" for first, second in arcs)]
    (folder / "edge.csv").write_text("\n".join(lines) + "\n")


def derive(report: Report, side: int, runtime: str) -> None:
    """Derive the closure of a grid, and tell what that took."""
    name, expected = f"closure, grid {side} x {side}, {runtime}", (side * (side + 1) // 2) ** 2 - side**2
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        write_grid(folder, side)
        (folder / "paths.dl").write_text(PROGRAM)
        options = ["--facts", made, "--out", made, "--runtime", runtime]
        started = time.perf_counter()
        printed, held = watched([*_COMMAND, str(folder / "paths.dl"), *options])
        taken = time.perf_counter() - started
        assert printed.startswith(f"path: {expected:,} rows"), printed
        with (folder / "path.csv").open("rb") as file:
            assert sum(1 for _ in file) == expected + 1
    report.tell(f"{name}: tuples", expected, "tuples")
    report.tell(f"{name}: start to end of the command", taken)
    report.tell(f"{name}: memory", held / 2**30, "GiB")


def main() -> None:
    """Print times."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a grid of 30 x 30 alone")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    report = Report()
    for side, runtime in ((30, "fjord"), (30, "spark")) if given.quick else ((61, "fjord"), (100, "spark")):
        derive(report, side, runtime)
    if given.json:
        given.json.write_text(json.dumps(report.found, indent=2))


if __name__ == "__main__":
    main()
