"""W1 on a cluster: a standalone master and two workers of one core, against ``local[2]`` in one process.

Five streams, ten million tuples, in batches of a million; each run is a process of its own, by turns. The cluster is on
this machine, so both have the same two cores; what a cluster costs is to be seen, not what more machines give. Rates
are those of the steady state (what begins in the first third of a run's time is left out); the seconds are those of all
batches, with compilation and the start of workers. Answers are counted first.

    python benchmarks/cluster.py
    python benchmarks/cluster.py --quick --json cluster.json
"""

import argparse
import json
import statistics
import sys
import tempfile
from pathlib import Path

from _report import Report
from join import run_join

from _watched import watched
from _workloads import STREAMS, complete, steps, write_parts
from skerry.testing.cluster import Cluster

_LOCAL = "local[2]"
_CONTENDER = Path(__file__).with_name("_spark_join.py")


def measure(data: Path, batch_rows: int, master: str, expected: int) -> tuple[float, float]:
    """Tuples a second, and the seconds of all batches."""
    printed, _ = watched([sys.executable, str(_CONTENDER), "skerry", "complete", str(data), str(batch_rows), master])
    found = json.loads(printed.splitlines()[-1])
    assert found["answers"] == expected, f"{master}: {found['answers']} answers, not {expected}"
    return found["rate"], found["seconds"]


def measure_both(rows: int, batch_rows: int, repeats: int, report: Report) -> None:
    """By turns: the medians, and how much longer the cluster takes."""
    rates: dict[str, list[tuple[float, float]]] = {_LOCAL: [], "cluster": []}
    with tempfile.TemporaryDirectory() as folder, Cluster(workers=2, cores=1) as cluster:
        data = Path(folder)
        streams = complete(rows)
        expected = run_join(list(steps(streams, 10_000)), "snjoin")
        write_parts(streams, data, max(1, STREAMS * rows // batch_rows))
        for _ in range(repeats):
            for name, master in ((_LOCAL, _LOCAL), ("cluster", cluster.url)):
                rates[name].append(measure(data, batch_rows, master, expected))
                print(f"  {name}: {rates[name][-1][0] / 1e6:.3f} M tuples/s, {rates[name][-1][1]:.1f} s", flush=True)
    found = {name: [statistics.median(each) for each in zip(*some, strict=True)] for name, some in rates.items()}
    for name, (rate, seconds) in found.items():
        report.tell(f"W1, {name}", rate / 1e6, "M tuples/s")
        report.tell(f"W1, {name}, all batches", seconds)
    report.tell("the cluster's time per tuple, to local", found[_LOCAL][0] / found["cluster"][0], "times")
    report.tell("the cluster's time for all batches, to local", found["cluster"][1] / found[_LOCAL][1], "times")


def main() -> None:
    """Print rates, and the ratio."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=2_000_000, help="a stream, of five")
    parser.add_argument("--batch-rows", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="a fifth of the tuples, in batches of 200,000, once")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    report = Report()
    if given.quick:
        measure_both(400_000, 200_000, 1, report)
    else:
        measure_both(given.rows, given.batch_rows, given.repeats, report)
    if given.json:
        given.json.write_text(json.dumps(report.found, indent=2))


if __name__ == "__main__":
    main()
