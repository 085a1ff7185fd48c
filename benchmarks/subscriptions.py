r"""W5 (iii): a grouped window average through the Spark pipeline, with subscriptions beside it and without.

Both read the same Parquet files in one Spark session, by turns; a rate is that of the steady state. Each subscription
asks for a segment and an interval of speeds, and matches few readings; their answers are counted against a search in
sorted columns before anything is printed.

    python benchmarks/subscriptions.py --subscriptions 10000 --json subscriptions.json

With --mix, instead, predicates as people write them, in this process: how long from a file to the first match, the time
per reading, memory, and single changes. The matches of a sample are DuckDB's, or nothing counts.

    python benchmarks/subscriptions.py --mix [people|free|arithmetic] --count 100000
"""

import argparse
import json
import shutil
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from _mix import MIXES
from _steady import measure_rate
from _subscribed_mix import run_mix

from pipeline import QUERIES, make_files
from skerry.catalog import Subscription
from skerry.database import Settings, connect
from skerry.pipeline.outcome import Outcome
from skerry.sinks.files import FileSink

_COLUMNS = "ts TIMESTAMP, segment INT, speed DOUBLE, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND"
_SEGMENTS = 100


class Boxes:
    """Selective predicates: one segment, an interval of speed."""

    def __init__(self, count: int, width: float) -> None:
        random = np.random.default_rng(11)
        self.segments = random.integers(0, _SEGMENTS, count)
        self.low = random.random(count) * (100 - width)
        self.high = self.low + width

    def subscriptions(self) -> list[Subscription]:
        """In words."""
        ends = zip(self.segments.tolist(), self.low.tolist(), self.high.tolist(), strict=True)
        return [
            Subscription(f"q{number}", "road", f"segment = {segment} AND speed BETWEEN {low!r} AND {high!r}")
            for number, (segment, low, high) in enumerate(ends)
        ]

    def matches(self, files: list[Path]) -> int:
        """How many pairs there are: by sorting, not by an index of ours."""
        found = 0
        for file in files:
            table = pq.read_table(file, columns=["segment", "speed"])
            segments, speeds = table["segment"].to_numpy(), table["speed"].to_numpy()
            for segment in range(_SEGMENTS):
                chosen, mine = np.sort(speeds[segments == segment]), self.segments == segment
                found += int(
                    (np.searchsorted(chosen, self.high[mine], "right") - np.searchsorted(chosen, self.low[mine])).sum()
                )
        return found


def run(data: Path, batch_rows: int, subscriptions: list[Subscription], master: str) -> tuple[float, Outcome]:
    """Rows a second in the steady state, and what came out."""
    database = connect()
    database.execute(f"CREATE SOURCE road ({_COLUMNS}) WITH (connector='file', path='{data}/*.parquet')")
    database.execute(QUERIES["average"])
    database.subscribe(subscriptions)
    moments, read = [time.perf_counter()], [0]

    def watch(outcome: Outcome) -> None:
        moments.append(time.perf_counter())
        read.append(sum(tally.read for tally in outcome.tallies.values()))

    with tempfile.TemporaryDirectory() as out:
        outcome = database.run(
            FileSink(Path(out), "parquet"), Settings(master=master, step_rows=batch_rows), watch=watch
        )
    return measure_rate(np.diff(read).tolist(), np.diff(moments).tolist()), outcome


def main() -> None:
    """Print the ratio."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=64)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--files-a-batch", type=int, default=8)
    parser.add_argument("--subscriptions", type=int, default=10_000)
    parser.add_argument("--width", type=float, default=0.001, help="of the interval of speed, out of 100")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--master", default="local[2]")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--mix", nargs="?", const="people", choices=MIXES, help="predicates as people write them")
    parser.add_argument("--count", type=int, default=100_000, help="how many predicates of the mix")
    parser.add_argument("--batch-rows", type=int, default=10_000, help="readings per batch, with --mix")
    parser.add_argument("--batches", type=int, default=10, help="with --mix")
    parser.add_argument("--seed", type=int, default=7, help="of the mix")
    given = parser.parse_args()
    if given.mix:
        found = run_mix(given.mix, given.count, given.batch_rows, given.batches, given.seed)
        if given.json:
            given.json.write_text(json.dumps({f"mix {given.mix}": found}, indent=2))
        return
    data = Path(tempfile.mkdtemp(prefix="skerry-bench-"))
    boxes = Boxes(given.subscriptions, given.width)
    rates: dict[str, list[float]] = {"without": [], "with": []}
    try:
        make_files(data, given.files, given.rows)
        expected = boxes.matches(sorted(data.glob("*.parquet")))
        for _ in range(given.repeats):
            for name, some in {"without": [], "with": boxes.subscriptions()}.items():
                rate, outcome = run(data, given.files_a_batch * given.rows, some, given.master)
                matched = outcome.answers.get("subscriptions", 0)
                assert matched == (expected if some else 0), f"{matched} answers, expected {expected}"
                rates[name].append(rate)
                print(f"  {name}: {rate / 1e6:.2f} M rows/s, {matched} answers", flush=True)
    finally:
        shutil.rmtree(data)
    found = {name: statistics.median(some) for name, some in rates.items()}
    ratio = found["with"] / found["without"]
    print(f"with {given.subscriptions} subscriptions: {found['with'] / 1e6:.2f} M rows/s, {ratio:.2f} of that without")
    if given.json:
        given.json.write_text(json.dumps({"rows_a_second": found, "ratio": ratio, "answers": expected}, indent=2))


if __name__ == "__main__":
    main()
