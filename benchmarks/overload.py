"""More readings than a join can keep up with, for minutes: lag, memory, and what was shed.

Simulated traffic is joined with itself by segment and speed, in this process, within a budget in readings and in lag.
With `--no-shed` it keeps all, and falls behind.

    python benchmarks/overload.py --rate 1000000 --seconds 130
    python benchmarks/overload.py --rate 1000000 --seconds 30 --no-shed
"""

import argparse
import json
import resource
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa
from _report import Report

from skerry.database import Settings, connect
from skerry.fjord.pipeline import Outcome
from skerry.sinks.sink import Sink

_SCRIPT = """
CREATE SOURCE traffic (sensor VARCHAR, ts TIMESTAMP, segment INT, speed DOUBLE,
  WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)
WITH (connector='sim', kind='traffic', sensors='2000', seed='1', rate='{rate}');
CREATE MATERIALIZED VIEW alike {options} AS
SELECT a.sensor AS one, b.sensor AS other, a.ts, b.ts AS later FROM SLIDING(traffic, ts, INTERVAL '1' MINUTE) AS a
JOIN SLIDING(traffic, ts, INTERVAL '1' MINUTE) AS b
ON a.segment = b.segment AND floor(a.speed) = floor(b.speed) WHERE a.sensor <> b.sensor;
"""
_SHED = "WITH (on_overload='shed', shed_policy='pattern', memory_rows='20000', max_lag='4s', loss_to='lost')"


class Counting(Sink):
    """Answers are counted, and forgotten."""

    answers = 0

    def open(self, outputs: Mapping[str, pa.Schema], *, resume: bool) -> None:
        """Nothing to make ready."""

    def write(self, output: str, number: int, rows: pa.RecordBatch, staged: Sequence[int] = ()) -> None:
        """Count."""
        self.answers += rows.num_rows

    def close(self) -> None:
        """Nothing to finish."""


def overloaded(report: Report, rate: int, seconds: float, *, shed: bool) -> None:
    """One run, and its account."""
    database, sink, started = connect(), Counting(), time.monotonic()
    database.execute(_SCRIPT.format(rate=rate, options=_SHED if shed else ""))

    def late() -> bool:
        return time.monotonic() - started > seconds

    outcome: Outcome = database.run(sink, Settings("fjord"), stopped=late)
    report.tell("readings", sum(tally.read for tally in outcome.tallies.values()), "readings")
    report.tell("the longest lag", outcome.lag_us / 1e6)
    report.tell("memory at the most", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10, "MiB")
    report.tell("answers", sink.answers, "answers")
    for view, reason in outcome.failures.items():
        print(f"  {view} stopped: {reason}", flush=True)
    for name, count in outcome.figures.get("alike", {}).items():
        report.tell(f"arrivals on either side: {name}", count, "tuples")


def main() -> None:
    """Print what became of the readings."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rate", type=int, default=1_000_000, help="readings a second")
    parser.add_argument("--seconds", type=float, default=130)
    parser.add_argument("--no-shed", action="store_true", help="keep all, and fall behind")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    report = Report()
    overloaded(report, given.rate, given.seconds, shed=not given.no_shed)
    if given.json:
        given.json.write_text(json.dumps(report.found, indent=2))


if __name__ == "__main__":
    main()
